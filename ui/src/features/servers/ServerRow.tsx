// One server of the settings: its state over the open workspaces, how it is reached, and what can be done to it.

import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";

import { BackendError, owner, setMcpServerEnabled, type InvalidServer, type ServerState, type ServerSummary } from "../../backend";
import { TransportBadge } from "../../components/Badge";
import { ExactText } from "../../components/ExactText";
import { PlaceText } from "../../components/Notice";
import { StateMark } from "../../components/StateMark";
import { Switch } from "../../components/Switch";
import { writtenOut } from "../../text/suspicious";
import classes from "./ServerRow.module.css";

interface Props {
  server: ServerSummary;
  /** Whether the keyboard shall stand here. */
  focused: boolean;
  onEdit: (name: string) => void;
  onRemove: (name: string) => void;
  onFailure: (failure: { title: string; error: BackendError }) => void;
}

export function ServerRow({ server, focused, onEdit, onRemove, onFailure }: Props) {
  const state = stateOf(server);
  return (
    <li className={classes.row} data-testid="server-row" data-server={server.name ?? ""} data-state={state}>
      <div className={classes.state}>
        <StateMark state={state} />
      </div>
      <p className={classes.head}>
        <span className={classes.name} data-testid="server-name">
          {server.name === null ? "Without a name" : <ExactText text={server.name} />}
        </span>
        <TransportBadge transport={server.transport} />
      </p>
      {server.invalid === null && server.name !== null && (
        <Actions name={server.name} enabled={server.enabled} focused={focused} onEdit={onEdit} onRemove={onRemove} onFailure={onFailure} />
      )}
      <div className={classes.what}>
        {server.line !== "" && (
          <p className={classes.line} data-testid="server-line" title={writtenOut(server.line)}>
            <ExactText text={server.line} />
          </p>
        )}
        {server.invalid !== null && <Invalid invalid={server.invalid} />}
        {server.invalid === null && server.enabled && server.cause !== null && (
          <p className={classes.cause} data-state={state} data-testid="server-cause">
            <ExactText text={server.cause} breaks />
          </p>
        )}
      </div>
    </li>
  );
}

/** The state to show; without an open workspace a server that is on waits for its first use. */
function stateOf(server: ServerSummary): ServerState {
  if (server.invalid !== null) return "invalid";
  if (!server.enabled) return server.state === "stopping" ? "stopping" : "disabled";
  return server.state ?? "idle";
}

function Invalid({ invalid }: { invalid: InvalidServer }) {
  return (
    <div className={classes.invalid} data-testid="server-invalid">
      <p>
        <ExactText text={invalid.reason} breaks />
      </p>
      <PlaceText place={invalid.place} />
      <p className={classes.hint}>{invalid.hint === null ? "Put it right in the file; the other servers are not touched by it." : <ExactText text={invalid.hint} breaks />}</p>
    </div>
  );
}

interface ActionProps extends Omit<Props, "server"> {
  name: string;
  enabled: boolean;
}

function Actions({ name, enabled, focused, onEdit, onRemove, onFailure }: ActionProps) {
  const [wish, setWish] = useState<boolean | null>(null);
  const edit = useRef<HTMLButtonElement>(null);
  const shown = writtenOut(name);

  useEffect(() => {
    if (focused) edit.current?.focus();
  }, [focused]);

  // The switch shows what is wished at once, and the truth as soon as the owner has told it.
  async function toggle(on: boolean) {
    setWish(on);
    try {
      await setMcpServerEnabled(name, on);
      await owner.refresh();
    } catch (error) {
      onFailure({ title: `“${name}” could not be switched ${on ? "on" : "off"}`, error: BackendError.from(error) });
    } finally {
      setWish(null);
    }
  }

  return (
    <div className={classes.actions}>
      <Button ref={edit} variant="subtle" data-testid="server-edit" aria-label={`Edit ${shown}`} onClick={() => onEdit(name)}>
        Edit
      </Button>
      <Button variant="subtle" data-testid="server-remove" aria-label={`Remove ${shown}`} onClick={() => onRemove(name)}>
        Remove
      </Button>
      <Switch on={wish ?? enabled} label={`${shown} is on`} disabled={wish !== null} onChange={(on) => void toggle(on)} />
    </div>
  );
}
