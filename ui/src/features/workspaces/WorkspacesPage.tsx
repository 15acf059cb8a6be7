// The open workspaces: one of them with its servers, and the way to open another.

import { Button } from "@mantine/core";
import { useState } from "react";

import type { Snapshot, WorkspaceState } from "../../backend";
import { ExactText } from "../../components/ExactText";
import { Page } from "../../components/Page";
import { writtenOut } from "../../text/suspicious";
import { OpenWorkspace } from "./OpenWorkspace";
import { WorkspaceView } from "./WorkspaceView";
import classes from "./WorkspacesPage.module.css";

export function WorkspacesPage({ snapshot }: { snapshot: Snapshot | null }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [opening, setOpening] = useState(false);
  const workspaces = snapshot?.workspaces ?? [];
  const current = workspaces.find((w) => w.key === chosen) ?? workspaces[0];
  const none = snapshot !== null && workspaces.length === 0;

  const actions = none ? undefined : (
    <Button data-testid="workspace-open-toggle" aria-expanded={opening} onClick={() => setOpening(!opening)}>
      Open workspace…
    </Button>
  );
  return (
    <Page title="Workspaces" testId="workspaces-page" actions={actions}>
      {(none || opening) && (
        <OpenWorkspace
          first={none}
          withoutFolder={!workspaces.some((w) => w.path === null)}
          onOpened={(key) => {
            setChosen(key);
            setOpening(false);
          }}
        />
      )}
      {workspaces.length > 1 && <Tabs workspaces={workspaces} current={current} onChoose={setChosen} />}
      {current !== undefined && <WorkspaceView key={current.key} workspace={current} />}
    </Page>
  );
}

interface TabsProps {
  workspaces: readonly WorkspaceState[];
  current: WorkspaceState | undefined;
  onChoose: (key: string) => void;
}

function Tabs({ workspaces, current, onChoose }: TabsProps) {
  return (
    <ul className={classes.tabs} aria-label="Open workspaces">
      {workspaces.map((workspace) => (
        <li key={workspace.key}>
          <button type="button" className={classes.tab} aria-current={workspace === current} title={writtenOut(workspace.path ?? "")} data-testid="workspace-tab" data-workspace={workspace.key} onClick={() => onChoose(workspace.key)}>
            <ExactText text={nameOf(workspace)} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A workspace's short name: the last part of its path. */
export function nameOf({ path }: Pick<WorkspaceState, "path">): string {
  if (path === null) return "Without a folder";
  return /([^/\\]+)[/\\]*$/u.exec(path)?.[1] ?? path;
}
