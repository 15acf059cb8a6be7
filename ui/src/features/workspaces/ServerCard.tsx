// One server in one workspace: its state and why, its process, its tools, its log, and Restart (MCP-47).

import { Button } from "@mantine/core";
import { useState } from "react";

import { BackendError, owner, restartMcpServer, type ServerStatus, type ServerTools } from "../../backend";
import { Badge, TransportBadge } from "../../components/Badge";
import { Disclosure } from "../../components/Disclosure";
import { ExactText } from "../../components/ExactText";
import { StateMark } from "../../components/StateMark";
import { writtenOut } from "../../text/suspicious";
import { moment } from "../../text/time";
import { ServerLog } from "./ServerLog";
import { ToolList } from "./ToolList";
import classes from "./ServerCard.module.css";

interface Props {
  workspace: string;
  server: ServerStatus;
  /** What the last listing gave; `null` before one. */
  tools: ServerTools | null;
  onFailure: (failure: { title: string; error: BackendError }) => void;
}

export function ServerCard({ workspace, server, tools, onFailure }: Props) {
  const [busy, setBusy] = useState(false);
  const { id, state, cause, hint } = server;
  const restartable = state !== "disabled" && state !== "invalid" && state !== "pending-trust";

  async function restart() {
    setBusy(true);
    try {
      await restartMcpServer(workspace, id);
      await owner.refresh();
    } catch (error) {
      onFailure({ title: `“${id.name}” could not be restarted`, error: BackendError.from(error) });
    }
    setBusy(false);
  }

  return (
    <li className={classes.card} data-testid="workspace-server" data-server={id.name} data-state={state}>
      <div className={classes.head}>
        <StateMark state={state} />
        <span className={classes.name}>
          <ExactText text={id.name} />
        </span>
        <TransportBadge transport={server.transport} />
        {id.scope !== "global" && <Badge title="From this project's files">project</Badge>}
        <Button className={classes.restart} data-testid="server-restart" aria-label={`Restart ${writtenOut(id.name)}`} disabled={!restartable} loading={busy} onClick={() => void restart()}>
          Restart
        </Button>
      </div>
      {(cause !== null || hint !== null) && (
        <div className={classes.why} data-state={state}>
          {cause !== null && (
            <p className={classes.cause} data-testid="server-cause">
              <ExactText text={cause} breaks />
            </p>
          )}
          {hint !== null && (
            <p data-testid="server-hint">
              <ExactText text={hint} breaks />
            </p>
          )}
        </div>
      )}
      <Facts server={server} />
      <div className={classes.more}>
        {tools !== null && <ToolList tools={tools} />}
        <Disclosure label="Log" testId="log-toggle">
          {() => <ServerLog workspace={workspace} server={server} />}
        </Disclosure>
      </div>
    </li>
  );
}

function Facts({ server }: { server: ServerStatus }) {
  const { sinceMs, untilMs, pid, sandbox, toolCount } = server;
  const facts: [string, string][] = [];
  if (sinceMs !== null && sinceMs > 0) facts.push(["since", moment(sinceMs)]);
  if (untilMs !== null) facts.push(["until", moment(untilMs)]);
  if (toolCount !== null) facts.push(["tools", String(toolCount)]);
  if (pid !== null) facts.push(["process", String(pid)]);
  if (sandbox !== null) facts.push(["sandbox", sandbox.active ? sandbox.label : `none: ${sandbox.label}`]);
  return (
    <>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name} data-testid={`fact-${name}`}>
            <dt>{name}</dt>
            <dd>
              <ExactText text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {sandbox !== null && sandbox.gaps.length > 0 && (
        <ul className={classes.gaps} data-testid="sandbox-gaps">
          {sandbox.gaps.map((gap) => (
            <li key={gap}>
              Not held by the sandbox: <ExactText text={gap} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
