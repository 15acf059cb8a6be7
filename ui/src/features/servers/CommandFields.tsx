// The form's fields of a server that is a program.

import { Button, Checkbox } from "@mantine/core";

import { Disclosure } from "../../components/Disclosure";
import { PlainArea, PlainInput } from "../../components/PlainField";
import { CommandLinePaste } from "./CommandLinePaste";
import { FieldNotes } from "./FieldNotes";
import { fieldProps } from "./fieldProps";
import { decodeLine, decodePair, encodeLine, encodeList, encodePairs, linesOf } from "./lines";
import { splitCommandLine, type CommandLine } from "./shellwords";
import type { ServerForm } from "./useServerForm";
import { looksLikeLine } from "./validate";
import classes from "./CommandFields.module.css";

export function CommandFields({ form }: { form: ServerForm }) {
  const { form: state, change, remarks } = form;
  const command = decodeLine(state.command);
  const typedLine = looksLikeLine(command) ? splitCommandLine(command) : null;

  function fill(line: CommandLine, argsAfter: string) {
    const args = [encodeList(line.args), argsAfter].filter((text) => text !== "").join("\n");
    change({ command: encodeLine(line.command), args, env: mergeEnv(state.env, line.env) });
  }

  return (
    <>
      <div>
        <PlainInput label="Command" placeholder="npx" value={state.command} {...fieldProps(form, "command")} onChange={(e) => change({ command: e.currentTarget.value })} />
        <FieldNotes field="command" remarks={remarks} value={state.command} onPlain={(plain) => change({ command: plain })}>
          {typedLine?.ok === true && (
            <Button size="compact-xs" data-testid="split-command" onClick={() => fill(typedLine.line, state.args)}>
              Split it
            </Button>
          )}
        </FieldNotes>
        <div className={classes.paste}>
          <Disclosure label="Paste a command line" testId="paste-toggle">
            {() => <CommandLinePaste onUse={(line) => fill(line, "")} />}
          </Disclosure>
        </div>
      </div>
      <div>
        <PlainArea label="Arguments" description="One a line, exactly as the program gets them: no quotes needed." placeholder={"-y\n@scope/server"} least={3} value={state.args} {...fieldProps(form, "args")} onChange={(e) => change({ args: e.currentTarget.value })} />
        <FieldNotes field="args" remarks={remarks} value={state.args} onPlain={(args) => change({ args })} />
      </div>
      <div>
        <PlainArea
          label="Environment"
          description="One a line: NAME=value. Hidden values stay as they are unless you write over them."
          placeholder="API_TOKEN=${secret:MY_TOKEN}"
          value={state.env}
          {...fieldProps(form, "env")}
          onChange={(e) => change({ env: e.currentTarget.value })}
        />
        <FieldNotes field="env" remarks={remarks} value={state.env} onPlain={(env) => change({ env })} />
      </div>
      <div>
        <Checkbox label="Run it in the OS sandbox" data-testid="field-sandbox" checked={state.sandbox} onChange={(e) => change({ sandbox: e.currentTarget.checked })} />
        <p className={state.sandbox ? classes.hint : classes.warning}>
          {state.sandbox
            ? "It can write only in the workspace, the temporary folders and the usual caches, and cannot read keys and sign-ins."
            : "It can read and change everything that you can, your keys and sign-ins included."}
        </p>
      </div>
    </>
  );
}

/** The lines with these variables set; a variable that is there already is set anew in its place. */
function mergeEnv(text: string, added: readonly [string, string][]): string {
  let lines = text.split("\n").filter((line) => line.trim() !== "");
  for (const [name, value] of added) {
    const written = encodePairs({ [name]: value }, "=");
    const at = lines.findIndex((line) => linesOf(line).some((one) => decodePair(one, "=")?.name === name));
    lines = at < 0 ? [...lines, written] : lines.map((line, here) => (here === at ? written : line));
  }
  return lines.join("\n");
}
