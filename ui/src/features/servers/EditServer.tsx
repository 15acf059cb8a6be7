// The page that adds or edits a server.

import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useMemo } from "react";

import type { ConfigState } from "../../backend";
import { Page } from "../../components/Page";
import { dialogIsOpen } from "../shell/dialogs";
import { useGuard, useLeave } from "../shell/leave";
import { Failure } from "./Failure";
import { FormProblems } from "./FormProblems";
import { ServerFields } from "./ServerFields";
import { useServerForm } from "./useServerForm";
import classes from "./EditServer.module.css";

interface Props {
  /** The server to edit; `null`: a new one. */
  name: string | null;
  config: ConfigState;
  /** Back to the list; with the name of the server to stand on. */
  onDone: (name: string | null) => void;
}

const PROBLEMS = "server-problems";

export function EditServer({ name, config, onDone }: Props) {
  const taken = useMemo(() => config.servers.map((s) => s.name).filter((n) => n !== null && n !== name) as string[], [config.servers, name]);
  const form = useServerForm(name, taken);
  const { leave, setChanged } = useLeave();
  useGuard(form.changed);
  const cancel = () => leave(() => onDone(name));

  async function save() {
    const saved = await form.save();
    if (saved !== null) {
      setChanged(false);
      onDone(saved);
    } else {
      // After the problems are drawn.
      setTimeout(() => document.getElementById(PROBLEMS)?.scrollIntoView({ block: "nearest" }));
    }
  }

  const saveByKey = () => {
    if (!dialogIsOpen() && !form.saving) void save();
  };
  useHotkeys([["mod+S", saveByKey], ["mod+Enter", saveByKey], ["Escape", () => !dialogIsOpen() && cancel()]], []);

  const foot = (
    <div className={classes.foot}>
      <p className={classes.note}>{name === null ? "A new server starts at its first use." : "A server that runs is restarted when what it runs on has changed."}</p>
      <Button data-testid="form-cancel" onClick={cancel}>
        Cancel
      </Button>
      <Button variant="filled" data-testid="form-save" disabled={!form.ready} loading={form.saving} title="Ctrl+S" onClick={() => void save()}>
        {name === null ? "Add server" : "Save"}
      </Button>
    </div>
  );
  return (
    <Page title={name === null ? "Add server" : `Edit ${name}`} above="Settings › MCP servers" testId="server-form" foot={foot}>
      {form.ready && <ServerFields form={form} first={name === null ? "name" : form.form.kind} />}
      <section id={PROBLEMS} aria-live="polite" className={classes.problems}>
        <FormProblems problems={form.problems} />
        {form.failure !== null && <Failure title={form.ready ? "Nothing was saved" : "This server cannot be edited"} failure={form.failure} onReload={(keep) => void form.reload(keep)} />}
      </section>
    </Page>
  );
}
