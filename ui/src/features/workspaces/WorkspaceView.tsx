// One open workspace: its folder, what is wrong with its project's files, its servers and their tools.

import { Button } from "@mantine/core";
import { useEffect, useState } from "react";

import { BackendError, listTools, openWorkspace, owner, type ServerId, type ServerTools, type WorkspaceState } from "../../backend";
import { ExactText } from "../../components/ExactText";
import { ErrorNotice, Notice } from "../../components/Notice";
import { ProjectTrust } from "../trust/ProjectTrust";
import { ServerCard } from "./ServerCard";
import classes from "./WorkspaceView.module.css";

export function WorkspaceView({ workspace }: { workspace: WorkspaceState }) {
  const { path, users, servers, problems } = workspace;
  const [tools, setTools] = useState<Listing | null>(null);
  const [listing, setListing] = useState(false);
  const [error, setError] = useState<{ title: string; error: BackendError } | null>(null);

  // A workspace closes when nobody uses it: what is looked at here counts as used for as long as the window stands.
  useEffect(() => {
    openWorkspace(path).catch((failure: unknown) => setError({ title: "This workspace could not be kept open", error: BackendError.from(failure) }));
  }, [path]);

  async function show() {
    setListing(true);
    try {
      const view = await listTools(workspace.key);
      await owner.refresh();
      setTools(new Map(view.servers.map((part) => [keyOf(part.id), part])));
      setError(null);
    } catch (failure) {
      setError({ title: "The tools could not be listed", error: BackendError.from(failure) });
    }
    setListing(false);
  }

  return (
    <>
      <div className={classes.head}>
        <div className={classes.where}>
          <p className={path === null ? undefined : classes.path} data-testid="workspace-name">
            {path === null ? "Without a folder: the global servers only" : <ExactText text={path} />}
          </p>
          <p className={classes.users}>{usersText(users)}</p>
        </div>
        <Button variant="filled" data-testid="show-tools" loading={listing} disabled={servers.length === 0} title="Starts the servers that are not running yet" onClick={() => void show()}>
          {tools === null ? "Show tools" : "Refresh tools"}
        </Button>
      </div>
      {error !== null && <ErrorNotice {...error} onClose={() => setError(null)} testId="workspace-error" />}
      {path !== null && <ProjectTrust workspace={workspace} path={path} />}
      {problems.length > 0 && (
        <Notice kind="attention" title="The project's files have problems" testId="workspace-problems">
          <ul>
            {problems.map((problem) => (
              <li key={problem}>
                <ExactText text={problem} breaks />
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {servers.length === 0 && <p className={classes.none}>No servers here yet. Add one under Settings › MCP servers.</p>}
      <ul className={classes.servers} aria-label="Servers of this workspace">
        {servers.map((server) => (
          <ServerCard key={keyOf(server.id)} workspace={workspace.key} server={server} tools={tools?.get(keyOf(server.id)) ?? null} onFailure={setError} />
        ))}
      </ul>
    </>
  );
}

type Listing = ReadonlyMap<string, ServerTools>;

function keyOf({ scope, name }: ServerId): string {
  return JSON.stringify([scope, name]);
}

function usersText(users: number): string {
  if (users === 0) return "In use by nobody now";
  return users === 1 ? "In use by one window, agent or command" : `In use by ${users} windows, agents or commands`;
}
