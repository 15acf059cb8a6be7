// The form's text fields of one item a line, without loss: whatever cannot be shown as a line of its own is written
// as `$'…'` with escapes, as a POSIX shell would write it. Pure.

const QUOTED = /^\$'((?:[^'\\]|\\[\s\S])*)'$/u;
const SHORT: Record<string, string> = { "\n": "n", "\r": "r", "\t": "t", "\\": "\\", "'": "'" };
const LONG: Record<string, string> = { n: "\n", r: "\r", t: "\t", "\\": "\\", "'": "'", '"': '"' };

/** Whether a line would not come back as this value when it is shown as it is. */
function needsEscape(value: string): boolean {
  // A text area drops carriage returns; a blank line is no item; other control characters cannot be seen or typed.
  return value.trim() === "" || /[\u0000-\u0008\u000a-\u001f\u007f]/u.test(value) || QUOTED.test(value);
}

function escape(value: string): string {
  const body = value.replaceAll(/[\u0000-\u001f\u007f\\']/gu, (c) => {
    const short = SHORT[c];
    return short === undefined ? `\\x${(c.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}` : `\\${short}`;
  });
  return `$'${body}'`;
}

/** A value as one line of text; [`decodeLine`] gives exactly it back. */
export function encodeLine(value: string): string {
  return needsEscape(value) ? escape(value) : value;
}

/** The value that a line stands for. Nothing is trimmed. */
export function decodeLine(line: string): string {
  const body = QUOTED.exec(line)?.[1];
  return body === undefined ? line : unescape(body);
}

/** The text inside `$'…'`. An escape that means nothing stays as it is written. */
export function unescape(body: string): string {
  return body.replaceAll(/\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|[\s\S])/gu, (whole, escaped: string) => {
    if (escaped.length > 1) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return LONG[escaped] ?? whole;
  });
}

/** Whether a line stands for a value that it does not look like. */
export function isEscaped(line: string): boolean {
  return QUOTED.test(line);
}

/** Items as text, one a line. */
export function encodeList(items: readonly string[]): string {
  return items.map(encodeLine).join("\n");
}

export interface Line {
  /** From 1. */
  number: number;
  /** As it stands in the field. */
  text: string;
}

/** The lines that are not blank, with their numbers. */
export function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .map((line, at) => ({ number: at + 1, text: line.endsWith("\r") ? line.slice(0, -1) : line }))
    .filter((line) => line.text.trim() !== "");
}

/** The items of a text, one a line; blank lines count for nothing. */
export function decodeList(text: string): string[] {
  return linesOf(text).map((line) => decodeLine(line.text));
}

export interface Pair extends Line {
  name: string;
  value: string;
}

/** How the two sides of a pair are told apart: `NAME=value` or `Name: value`. */
export type Separator = "=" | ":";

/** Pairs as text, one a line. */
export function encodePairs(pairs: Readonly<Record<string, string>>, separator: Separator): string {
  return Object.entries(pairs)
    .map(([name, value]) => encodePair(name, value, separator))
    .join("\n");
}

function encodePair(name: string, value: string, separator: Separator): string {
  const clear = !name.includes(separator) && !name.startsWith("$'") && name === name.trim() && !needsEscape(name);
  const shownName = clear ? name : escape(name);
  if (separator === "=") return `${shownName}=${value === "" ? "" : encodeLine(value)}`;
  // After a colon people write a space, so spaces at the ends are not part of a value unless it says so.
  return value === "" ? `${shownName}:` : `${shownName}: ${value === value.trim() ? encodeLine(value) : escape(value)}`;
}

/** The pair that a line stands for; `null` where it has no separator. */
export function decodePair(line: Line, separator: Separator): Pair | null {
  const quotedName = /^\s*\$'((?:[^'\\]|\\[\s\S])*)'\s*/u.exec(line.text);
  const at = line.text.indexOf(separator, quotedName?.[0].length ?? 0);
  if (at < 0) return null;
  const rawValue = line.text.slice(at + 1);
  const name = quotedName?.[1] === undefined ? line.text.slice(0, at).trim() : unescape(quotedName[1]);
  return { ...line, name, value: decodeLine(separator === "=" ? rawValue : rawValue.trim()) };
}
