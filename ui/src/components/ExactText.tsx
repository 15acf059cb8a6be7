// Foreign text, shown as text and nothing else: characters that cannot be seen or that reorder text are written out,
// and its direction stays its own.

import { suspicious } from "../text/suspicious";
import classes from "./ExactText.module.css";

interface Props {
  text: string;
  /** Whether line breaks may break the line; otherwise they are written out too. */
  breaks?: boolean;
}

export function ExactText({ text, breaks = false }: Props) {
  if (text === "") return <span className={classes.token}>empty</span>;
  return <bdi className={classes.text}>{parts(text, breaks)}</bdi>;
}

interface Token {
  index: number;
  length: number;
  shown: string;
  name: string;
}

function tokens(text: string, breaks: boolean): Token[] {
  const found: Token[] = suspicious(text)
    .filter((s) => s.hidden)
    .map(({ index, length, code, name }) => ({ index, length, shown: code, name }));
  if (breaks) return found;
  for (const match of text.matchAll(/\n/gu)) found.push({ index: match.index, length: 1, shown: "\\n", name: "line break" });
  for (const match of text.matchAll(/^ +| +$/gu)) found.push({ index: match.index, length: match[0].length, shown: "␠".repeat(match[0].length), name: "spaces" });
  return found.sort((a, b) => a.index - b.index);
}

function parts(text: string, breaks: boolean) {
  const nodes = [];
  let from = 0;
  for (const { index, length, shown, name } of tokens(text, breaks)) {
    nodes.push(text.slice(from, index));
    nodes.push(
      <span key={index} className={classes.token} title={name}>
        {shown}
      </span>,
    );
    from = index + length;
  }
  nodes.push(text.slice(from));
  return nodes;
}
