// The global servers in the order of the file, with what can be done to each.

import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

import type { BackendError, ConfigState, ServerSummary } from "../../backend";
import { ErrorNotice } from "../../components/Notice";
import { Page } from "../../components/Page";
import { WordInput } from "../../components/PlainField";
import { dialogIsOpen } from "../shell/dialogs";
import { FileState } from "./FileState";
import { ADD_ID, FirstServer } from "./FirstServer";
import { RemoveServer } from "./RemoveServer";
import { ServerRow } from "./ServerRow";
import type { Editing } from "./ServersPage";
import classes from "./ServerList.module.css";

interface Props {
  /** `null` until the owner has answered. */
  config: ConfigState | null;
  onEdit: (editing: Editing) => void;
  /** The server whose row gets the keyboard; empty: the add button. */
  focus: string | null;
}

export function ServerList({ config, onEdit, focus }: Props) {
  const [filter, setFilter] = useState("");
  const [removing, setRemoving] = useState<string | null>(null);
  const [failure, setFailure] = useState<{ title: string; error: BackendError } | null>(null);
  const search = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (focus === "") document.getElementById(ADD_ID)?.focus();
  }, [focus]);
  useHotkeys(
    [
      ["mod+F", () => !dialogIsOpen() && search.current?.select()],
      ["mod+N", () => !dialogIsOpen() && config !== null && onEdit({ name: null })],
    ],
    [],
  );

  const servers = config?.servers ?? [];
  const shown = servers.filter((server) => matches(server, filter));
  const empty = config !== null && servers.length === 0;
  const actions = (
    <Button id={ADD_ID} variant="filled" data-testid="add-server" disabled={config === null} title="Ctrl+N" onClick={() => onEdit({ name: null })}>
      Add server
    </Button>
  );
  return (
    <Page title="MCP servers" above="Settings" testId="servers-page" actions={empty ? undefined : actions}>
      {config !== null && <FileState config={config} />}
      {failure !== null && <ErrorNotice {...failure} onClose={() => setFailure(null)} testId="servers-error" />}
      {empty && <FirstServer onAdd={() => onEdit({ name: null })} onFailure={setFailure} />}
      {!empty && (
        <div className={classes.find}>
          <WordInput
            ref={search}
            aria-label="Search servers by name, command or address"
            className={classes.search}
            data-testid="server-search"
            placeholder="Search by name, command or address"
            title="Ctrl+F"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setFilter("")}
          />
          <p role="status" className={classes.count}>
            {filter === "" ? "" : `${shown.length} of ${servers.length} servers`}
          </p>
        </div>
      )}
      {config === null && <Waiting />}
      {!empty && config !== null && (
        <>
          {shown.length > 0 && (
            <ul className={classes.list} aria-label="MCP servers">
              {shown.map((server) => (
                <ServerRow
                  key={`${server.name ?? ""}#${servers.indexOf(server)}`}
                  server={server}
                  focused={server.invalid === null && focus !== null && focus !== "" && server.name === focus}
                  onEdit={(name) => onEdit({ name })}
                  onRemove={setRemoving}
                  onFailure={setFailure}
                />
              ))}
            </ul>
          )}
          {shown.length === 0 && (
            <div className={classes.none} data-testid="no-match">
              <p>No server matches.</p>
              <Button onClick={() => setFilter("")}>Clear search</Button>
            </div>
          )}
        </>
      )}
      {removing !== null && config !== null && <RemoveServer name={removing} revision={config.revision} onClose={() => setRemoving(null)} />}
    </Page>
  );
}

function matches(server: ServerSummary, filter: string): boolean {
  const wanted = filter.trim().toLocaleLowerCase();
  return wanted === "" || (server.name ?? "").toLocaleLowerCase().includes(wanted) || server.line.toLocaleLowerCase().includes(wanted);
}

/** Rows of the height of true ones, so that nothing jumps when they come. */
function Waiting() {
  return (
    <ul className={classes.list} aria-label="Reading the settings" aria-busy="true" data-testid="servers-waiting">
      {[0, 1, 2].map((row) => (
        <li key={row} className={classes.waiting}>
          <span className={classes.bone} />
          <span className={classes.bone} />
        </li>
      ))}
    </ul>
  );
}
