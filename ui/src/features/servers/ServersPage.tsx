// Settings › MCP servers: the list, or the form of one of them (MCP-46).

import { useState } from "react";

import type { Snapshot } from "../../backend";
import { EditServer } from "./EditServer";
import { ServerList } from "./ServerList";

/** What the form is for: a new server, or the one of this name. */
export type Editing = { name: string | null };

export function ServersPage({ snapshot }: { snapshot: Snapshot | null }) {
  const [editing, setEditing] = useState<Editing | null>(null);
  // Where the keyboard stands after the form: the row of the server that was in it.
  const [returnTo, setReturnTo] = useState<string | null>(null);

  if (editing !== null && snapshot !== null) {
    return (
      <EditServer
        key={editing.name ?? ""}
        name={editing.name}
        config={snapshot.config}
        onDone={(name) => {
          setReturnTo(name ?? "");
          setEditing(null);
        }}
      />
    );
  }
  return <ServerList config={snapshot?.config ?? null} onEdit={setEditing} focus={returnTo} />;
}
