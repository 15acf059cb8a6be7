// The tools of one server as an agent is offered them, and those left out. A server's words are shown as text only.

import { Disclosure } from "../../components/Disclosure";
import { ExactText } from "../../components/ExactText";
import type { ServerTools, ToolSummary } from "../../backend";
import classes from "./ToolList.module.css";

/** Longer descriptions, in characters, are opened on demand. */
const SHORT = 160;

export function ToolList({ tools }: { tools: ServerTools }) {
  const { withheld, tools: offered, hidden } = tools;
  return (
    <div className={classes.tools} data-testid="tool-list">
      {withheld !== null && (
        <p className={classes.withheld} data-testid="tools-withheld">
          Not offered: <ExactText text={withheld} breaks />
        </p>
      )}
      {withheld === null && offered.length === 0 && <p className={classes.withheld}>No tools.</p>}
      <ul>
        {offered.map((tool) => (
          <Tool key={tool.name} tool={tool} />
        ))}
        {hidden.map(({ original, reason }, at) => (
          <li key={at} className={classes.tool} data-testid="tool-hidden">
            <span className={classes.out}>
              <ExactText text={original} />
            </span>
            <span className={classes.text}>
              Left out: <ExactText text={reason} breaks />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Tool({ tool: { name, original, description } }: { tool: ToolSummary }) {
  const long = description.length > SHORT || description.includes("\n");
  return (
    <li className={classes.tool} data-testid="tool" data-tool={name}>
      <span className={classes.name}>
        <ExactText text={name} />
      </span>
      <div className={classes.text}>
        {original !== name && (
          <p>
            The server calls it <ExactText text={original} />.
          </p>
        )}
        {description !== "" && !long && <ExactText text={description} />}
        {long && (
          <>
            <p>
              <ExactText text={`${firstWords(description)}…`} />
            </p>
            <Disclosure label="All of it">{() => <ExactText text={description} breaks />}</Disclosure>
          </>
        )}
      </div>
    </li>
  );
}

function firstWords(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return [...line].slice(0, SHORT - 20).join("").trimEnd();
}
