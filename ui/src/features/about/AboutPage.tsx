// Who holds the servers, where its settings are, and the way to end it.

import { Button } from "@mantine/core";
import { useState } from "react";

import { quit, type OwnerInfo, type Snapshot } from "../../backend";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ExactText } from "../../components/ExactText";
import { Page } from "../../components/Page";
import classes from "./AboutPage.module.css";

const KINDS: Record<OwnerInfo["kind"], string> = {
  desktop: "the desktop app",
  serve: "patchbay serve",
  alone: "this command alone",
};

export function AboutPage({ snapshot }: { snapshot: Snapshot | null }) {
  const [quitting, setQuitting] = useState(false);
  const running = snapshot?.workspaces.flatMap((w) => w.servers).filter((s) => s.state === "connected").length ?? 0;
  return (
    <Page title="About" testId="about-page" actions={<Button data-testid="quit" onClick={() => setQuitting(true)}>Quit Patchbay…</Button>}>
      <p className={classes.lead}>Patchbay runs MCP servers once for every agent on this computer. Closing this window leaves them running; quitting stops them.</p>
      {snapshot !== null && <Facts owner={snapshot.owner} file={snapshot.config.file} />}
      {quitting && (
        <ConfirmDialog title="Quit Patchbay?" action="Quit" onConfirm={() => quit().then(() => undefined)} onClose={() => setQuitting(false)}>
          <p>
            {running === 0 ? "No server is connected now." : running === 1 ? "One connected server will be stopped." : `${running} connected servers will be stopped.`} Agents
            that use Patchbay lose their tools until it runs again.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function Facts({ owner, file }: { owner: OwnerInfo; file: string }) {
  const rows: [string, string, boolean][] = [
    ["Version", owner.version, false],
    ["Servers are held by", `${KINDS[owner.kind]}, process ${owner.pid}`, false],
    ["Home folder", owner.home, true],
    ["Settings file", file, true],
  ];
  return (
    <dl className={classes.facts}>
      {rows.map(([name, value, path]) => (
        <div key={name} className={classes.row}>
          <dt>{name}</dt>
          <dd className={path ? classes.path : undefined}>
            <ExactText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
