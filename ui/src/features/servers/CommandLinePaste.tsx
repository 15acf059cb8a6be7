// Takes a whole command line apart, and shows how, before the form takes it over.

import { Button } from "@mantine/core";
import { useState } from "react";

import { ExactText } from "../../components/ExactText";
import { PlainArea } from "../../components/PlainField";
import { splitCommandLine, type CommandLine, type Split } from "./shellwords";
import classes from "./CommandLinePaste.module.css";

export function CommandLinePaste({ onUse }: { onUse: (line: CommandLine) => void }) {
  const [text, setText] = useState("");
  const split: Split | null = text.trim() === "" ? null : splitCommandLine(text);
  const line = split?.ok === true && split.line.command !== "" ? split.line : null;
  return (
    <div className={classes.paste}>
      <PlainArea
        aria-label="Command line"
        description="Split as a shell would, quotes and backslashes included. Nothing is run."
        placeholder={'API_KEY=… npx -y @scope/server --root "/my files"'}
        data-testid="paste-line"
        value={text}
        error={split?.ok === false ? split.message : undefined}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {line !== null && (
        <>
          <Parts line={line} />
          <Button
            data-testid="paste-use"
            onClick={() => {
              onUse(line);
              setText("");
            }}
          >
            Fill in command and arguments
          </Button>
        </>
      )}
    </div>
  );
}

function Parts({ line }: { line: CommandLine }) {
  const parts: [string, string][] = [
    ...line.env.map(([name, value]): [string, string] => ["variable", `${name}=${value}`]),
    ["command", line.command],
    ...line.args.map((arg, at): [string, string] => [`argument ${at + 1}`, arg]),
  ];
  return (
    <ol className={classes.parts} data-testid="paste-parts">
      {parts.map(([what, part], at) => (
        <li key={at} className={classes.part}>
          <span className={classes.what}>{what}</span>
          <span className={classes.text}>
            <ExactText text={part} />
          </span>
        </li>
      ))}
    </ol>
  );
}
