// The form's fields (MCP-46).

import { Checkbox, Radio, SegmentedControl } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";

import { ExactText } from "../../components/ExactText";
import { PlainArea, PlainInput } from "../../components/PlainField";
import { AddressFields } from "./AddressFields";
import { CommandFields } from "./CommandFields";
import { FieldNotes } from "./FieldNotes";
import { fieldProps } from "./fieldProps";
import { fieldId } from "./fields";
import { DEFAULT_TIMEOUT_SECONDS, hiddenKeys, type Audience, type Kind } from "./form";
import type { ServerForm } from "./useServerForm";
import type { Field } from "./validate";
import classes from "./ServerFields.module.css";

const KINDS: { value: Kind; label: ReactNode }[] = [
  { value: "command", label: <span data-testid="kind-command">Command</span> },
  { value: "url", label: <span data-testid="kind-url">Web address</span> },
];

interface Props {
  form: ServerForm;
  /** The field that has the keyboard when the form opens. */
  first: Field;
}

export function ServerFields({ form, first }: Props) {
  const { form: state, change, remarks } = form;
  const [opening] = useState(first);
  useEffect(() => document.getElementById(fieldId(opening))?.focus(), [opening]);
  return (
    <>
      <section className={classes.group}>
        <div>
          <PlainInput label="Name" description="Letters, digits, “.”, “-” and “_”." className={classes.short} value={state.name} {...fieldProps(form, "name")} onChange={(e) => change({ name: e.currentTarget.value })} />
          <FieldNotes field="name" remarks={remarks} value={state.name} onPlain={(name) => change({ name })} />
        </div>
        <div className={classes.kind}>
          <span id="server-kind" className={classes.label}>
            Reached by
          </span>
          <SegmentedControl aria-labelledby="server-kind" data={KINDS} value={state.kind} onChange={(kind) => change({ kind: kind as Kind })} />
        </div>
        {state.kind === "command" ? <CommandFields form={form} /> : <AddressFields form={form} />}
      </section>
      <section className={classes.group} aria-label="Calls">
        <Checkbox
          label="Run its tools without asking"
          data-testid="field-auto_approve"
          checked={state.autoApprove}
          onChange={(e) => change({ autoApprove: e.currentTarget.checked })}
        />
        <p className={state.autoApprove ? classes.warning : classes.hint}>
          {state.autoApprove
            ? "Every agent can call every tool of this server, and no one is asked first."
            : "Its tools are listed, and calls of them are refused: this version cannot ask you before a tool runs."}
        </p>
        <PlainInput
          label="Time limit of one call, in seconds"
          description={`${DEFAULT_TIMEOUT_SECONDS} where it is empty.`}
          className={classes.number}
          inputMode="numeric"
          placeholder={String(DEFAULT_TIMEOUT_SECONDS)}
          value={state.timeout}
          {...fieldProps(form, "timeout_seconds")}
          onChange={(e) => change({ timeout: e.currentTarget.value })}
        />
      </section>
      <Agents form={form} />
      <Kept keys={hiddenKeys(form.base)} />
    </>
  );
}

function Agents({ form }: { form: ServerForm }) {
  const { audience, agents } = form.form;
  return (
    <section className={classes.group}>
      <Radio.Group label="Agents offered its tools" value={audience} onChange={(value) => form.change({ audience: value as Audience })}>
        <div className={classes.choices}>
          <Radio value="primary" data-testid="agents-primary" label="The active primary agent" />
          <Radio value="all" data-testid="agents-all" label="Every agent, sub-agents too" />
          <Radio value="named" data-testid="agents-named" label="Only these" />
        </div>
      </Radio.Group>
      {audience === "named" && (
        <div>
          <PlainArea aria-label="Names of the agents, one a line" placeholder={"codex\nclaude-code"} value={agents} {...fieldProps(form, "agents")} onChange={(e) => form.change({ agents: e.currentTarget.value })} />
          <FieldNotes field="agents" remarks={form.remarks} value={agents} onPlain={(plain) => form.change({ agents: plain })} />
        </div>
      )}
    </section>
  );
}

function Kept({ keys }: { keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <p className={classes.hint} data-testid="kept-keys">
      The file also sets{" "}
      {keys.map((key, at) => (
        <span key={key}>
          {at > 0 && ", "}
          <code className={classes.key}>
            <ExactText text={key} />
          </code>
        </span>
      ))}
      . This form does not show {keys.length === 1 ? "it and leaves it as it is" : "them and leaves them as they are"}.
    </p>
  );
}
