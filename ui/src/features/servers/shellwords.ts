// Splits a command line as a POSIX shell splits words: quotes and backslashes, and nothing else. Nothing is expanded
// and nothing runs; what only a shell could do is refused. Pure.

import { unescape } from "./lines";

export interface CommandLine {
  /** `NAME=value` before the program. */
  env: [string, string][];
  /** The program; empty where there is none. */
  command: string;
  args: string[];
}

export type Split = { ok: true; line: CommandLine } | { ok: false; message: string };

interface Word {
  text: string;
  /** How many of its first characters stood without quotes. */
  bare: number;
}

class Unsplittable extends Error {}

const OPERATORS = new Set(["|", "&", ";", "<", ">", "(", ")"]);

/** Splits a command line into variables, program and arguments. */
export function splitCommandLine(text: string): Split {
  try {
    const words = new Splitter(text).words();
    const env: [string, string][] = [];
    let first = 0;
    for (; first < words.length; first += 1) {
      const pair = assignment(words[first]);
      if (pair === null) break;
      env.push(pair);
    }
    const [command, ...args] = words.slice(first).map((word) => word.text);
    return { ok: true, line: { env, command: command ?? "", args } };
  } catch (error) {
    if (error instanceof Unsplittable) return { ok: false, message: error.message };
    throw error;
  }
}

function assignment(word: Word | undefined): [string, string] | null {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/u.exec(word?.text ?? "");
  const name = match?.[1];
  if (word === undefined || name === undefined || word.bare <= name.length) return null;
  return [name, match?.[2] ?? ""];
}

class Splitter {
  private at = 0;

  constructor(private readonly text: string) {}

  words(): Word[] {
    const words: Word[] = [];
    for (let word = this.word(); word !== null; word = this.word()) words.push(word);
    return words;
  }

  /** The next word; `null` at the end. */
  private word(): Word | null {
    this.skipBlanks();
    if (this.at >= this.text.length) return null;
    let text = "";
    let bare: number | null = null;
    while (this.at < this.text.length && !/\s/u.test(this.peek())) {
      if (bare === null && this.peek() === "\\" && /^[a-z]:$/iu.test(text)) throw this.windowsPath();
      const quoted = this.quoted();
      if (quoted === null) {
        text += this.plain();
      } else {
        bare ??= text.length;
        text += quoted;
      }
    }
    return { text, bare: bare ?? text.length };
  }

  private skipBlanks() {
    // A backslash before a line break joins the lines.
    const blank = /(?:\s|\\\r?\n)*/uy;
    blank.lastIndex = this.at;
    this.at += blank.exec(this.text)?.[0].length ?? 0;
  }

  /** What a quote or a backslash makes of the text here; `null` where there is none. */
  private quoted(): string | null {
    const start = this.at;
    if (this.text.startsWith("$'", start)) return this.ansi();
    switch (this.peek()) {
      case "'": {
        const end = this.text.indexOf("'", start + 1);
        if (end < 0) throw this.unclosed("'", start);
        this.at = end + 1;
        return this.text.slice(start + 1, end);
      }
      case '"':
        return this.double();
      case "\\":
        if (start + 1 >= this.text.length) throw new Unsplittable("The line ends with a backslash that has nothing to act on.");
        return this.escaped();
      default:
        return null;
    }
  }

  private escaped(): string {
    const next = [...this.text.slice(this.at + 1, this.at + 3)][0] ?? "";
    if (this.text.startsWith("\r\n", this.at + 1)) {
      this.at += 3;
      return "";
    }
    this.at += 1 + next.length;
    return next === "\n" ? "" : next;
  }

  private double(): string {
    const start = this.at;
    let text = "";
    this.at += 1;
    while (this.at < this.text.length) {
      const c = this.peek();
      if (c === '"') {
        this.at += 1;
        return text;
      }
      if (c === "\\" && /["\\$`\n]/u.test(this.text[this.at + 1] ?? "")) {
        text += this.escaped();
      } else {
        text += c;
        this.at += 1;
      }
    }
    throw this.unclosed('"', start);
  }

  private ansi(): string {
    const start = this.at;
    const quoted = /\$'((?:[^'\\]|\\[\s\S])*)'/uy;
    quoted.lastIndex = start;
    const match = quoted.exec(this.text);
    if (match?.[1] === undefined) throw this.unclosed("$'", start);
    this.at += match[0].length;
    return unescape(match[1]);
  }

  private plain(): string {
    const c = this.peek();
    if (OPERATORS.has(c)) {
      throw new Unsplittable(
        `Character ${this.position(this.at)}: no shell runs this line, so “${c}” has no meaning. Put it in quotes, or leave it out.`,
      );
    }
    this.at += 1;
    return c;
  }

  private peek(): string {
    return this.text[this.at] ?? "";
  }

  private windowsPath(): Unsplittable {
    const at = this.position(this.at);
    return new Unsplittable(`Character ${at}: put this Windows path in quotes; outside them a backslash protects the next character.`);
  }

  private unclosed(quote: string, at: number): Unsplittable {
    return new Unsplittable(`Character ${this.position(at)}: the quote ${quote} is not closed.`);
  }

  /** From 1, in characters. */
  private position(at: number): number {
    return [...this.text.slice(0, at)].length + 1;
  }
}
