// The one place that says whether a form can be saved, and what it then means. Pure: no window, no owner.
//
// A problem keeps the form from being saved. A remark only points something out; the value is kept exactly as typed.

import type { McpServerConfig } from "../../backend";
import { suspicious } from "../../text/suspicious";
import { MASK, kindOf, type FormState } from "./form";
import { decodeLine, decodeList, decodePair, isEscaped, linesOf, type Pair } from "./lines";

/** The fields by their key in the file, so that the owner's answers find them. */
export type Field = "name" | "command" | "args" | "env" | "url" | "headers" | "timeout_seconds" | "agents";

export interface Finding {
  field: Field;
  message: string;
}

export interface Checked {
  problems: Finding[];
  remarks: Finding[];
  /** What is to be saved; only where there is no problem. */
  draft: McpServerConfig | null;
}

export interface Context {
  /** The server as the file has it; `null` for a new one. */
  base: McpServerConfig | null;
  /** Names of the other servers. */
  taken: readonly string[];
}

const MAX_NAME = 200;
const MAX_SECONDS = 4_294_967_295;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
const VARIABLE = /\$\{[^}]*\}/gu;

/** What may stand in a pair: its name by `name`, and nothing in its value by `never`. */
const PAIRS = {
  env: { thing: "a variable", separator: "=", shape: "NAME=value", name: /^[^\s=\u0000]+$/u, never: /\u0000/u },
  headers: { thing: "a header", separator: ":", shape: "Name: value", name: HEADER_NAME, never: /[\u0000-\u0008\u000a-\u001f\u007f]/u },
} as const;

/** Checks a form. */
export function check(form: FormState, context: Context): Checked {
  const base = context.base ?? {};
  const run = new Check(form, base);
  const name = run.name(context);
  const transport = form.kind === "command" ? run.command() : run.address();
  const timeout_seconds = run.timeout();
  const agents = run.agents();
  run.characters();
  const { problems, remarks } = run;
  if (problems.length > 0) return { problems, remarks, draft: null };
  const kept = form.kind === kindOf(base) ? base : withoutTransport(base);
  const draft = { ...kept, ...transport, name, timeout_seconds, agents, auto_approve: form.autoApprove };
  return { problems, remarks, draft };
}

/** What stays of a server that is reached in another way from now on. */
function withoutTransport(base: McpServerConfig): McpServerConfig {
  const { command: _command, args: _args, env: _env, cwd: _cwd, sandbox: _sandbox, ...rest } = base;
  const { url: _url, headers: _headers, type: _type, oauth: _oauth, ...common } = rest;
  return common;
}

class Check {
  readonly problems: Finding[] = [];
  readonly remarks: Finding[] = [];

  constructor(
    private readonly form: FormState,
    private readonly base: McpServerConfig,
  ) {}

  name({ base, taken }: Context): string {
    const { name } = this.form;
    // Files may hold names that the form would not give; such a server can be edited under its name.
    if (base !== null && name === base.name) return name;
    if (name === "") {
      this.problem("name", "Give the server a name.");
    } else if (!/^[A-Za-z0-9._-]+$/u.test(name)) {
      const bad = [...name].findIndex((c) => !/[A-Za-z0-9._-]/u.test(c));
      this.problem("name", `Use letters, digits, “.”, “-” and “_” only; character ${bad + 1} is another one.`);
    } else if (name.length > MAX_NAME) {
      this.problem("name", `Use at most ${MAX_NAME} characters; these are ${name.length}.`);
    }
    if (taken.includes(name)) this.problem("name", "Another server has this name. Choose a different one.");
    return name;
  }

  command(): McpServerConfig {
    const command = decodeLine(this.form.command);
    if (command.trim() === "") this.problem("command", "Name the program to run, such as npx, uvx or a path.");
    this.mask("command", command, [this.base.command ?? ""]);
    if (/^(["']).*\1/u.test(command)) this.remark("command", "The quotes are part of the program's name here. Leave them out.");
    if (looksLikeLine(command)) this.remark("command", "This looks like a whole command line. Split it, so that each argument is one of its own.");
    const args = this.args();
    const env = this.pairs("env", this.form.env, this.base.env ?? {});
    const sandbox = this.form.sandbox ? (this.base.sandbox === true ? true : null) : false;
    return { command, args, env, sandbox };
  }

  private args(): string[] {
    for (const line of linesOf(this.form.args)) {
      const value = decodeLine(line.text);
      this.mask("args", value, this.base.args ?? [], line.number);
      if (isEscaped(line.text)) this.remark("args", `Line ${line.number}: ${explainEscaped("argument", value)}`);
      else if (/^(["']).*\1$/u.test(value)) this.remark("args", `Line ${line.number}: the quotes are part of the argument. A line needs none.`);
      else if (/^-{1,2}[A-Za-z][\w-]*\s+\S/u.test(value)) this.remark("args", `Line ${line.number}: this is one argument with a space in it. Give an option and its value a line each.`);
      if (value !== value.trim() && value.trim() !== "") this.remark("args", `Line ${line.number}: the spaces at the ends are part of the argument.`);
    }
    return decodeList(this.form.args);
  }

  address(): McpServerConfig {
    const typed = decodeLine(this.form.url);
    const url = typed === this.base.url ? typed : typed.trim();
    this.mask("url", url, [this.base.url ?? ""]);
    if (url !== this.base.url) this.url(url);
    const headers = this.pairs("headers", this.form.headers, this.base.headers ?? {});
    return { url, headers };
  }

  private url(url: string) {
    if (url === "") return this.problem("url", "Give the server's web address, such as https://example.com/mcp.");
    if (/\s/u.test(url)) return this.problem("url", "A web address has no spaces.");
    if (url.startsWith("${")) return;
    // A variable stands for a host, a port or a path: a digit is all three.
    const parsed = parseUrl(url.replaceAll(VARIABLE, "1"));
    if (parsed === null || !/^https?:\/\/[^/]/iu.test(url)) {
      return this.problem("url", "Write a whole web address that starts with https:// or http://.");
    }
    const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(parsed.hostname);
    if (parsed.protocol === "http:" && !local) this.remark("url", "http:// is not encrypted: others on the way can read calls and headers.");
    if (parsed.username !== "") this.remark("url", "The address holds a sign-in. A header keeps it out of lists and logs.");
  }

  timeout(): number | null {
    const typed = this.form.timeout.trim();
    if (typed === "") return null;
    const seconds = Number(typed);
    if (!/^\d+$/u.test(typed) || seconds < 1 || seconds > MAX_SECONDS) {
      this.problem("timeout_seconds", "Give whole seconds, 1 or more, or leave it empty.");
    }
    return seconds;
  }

  agents(): string[] {
    if (this.form.audience === "primary") return [];
    if (this.form.audience === "all") return ["*"];
    const agents = decodeList(this.form.agents);
    if (agents.length === 0) this.problem("agents", "Name at least one agent, or choose who is offered the tools otherwise.");
    return agents;
  }

  /** Points out characters that were probably not meant. */
  characters() {
    const fields: [Field, string, boolean][] =
      this.form.kind === "command"
        ? [["command", this.form.command, false], ["args", this.form.args, true], ["env", this.form.env, true]]
        : [["url", this.form.url, false], ["headers", this.form.headers, true]];
    if (this.form.audience === "named") fields.push(["agents", this.form.agents, true]);
    for (const [field, text, lines] of [["name", this.form.name, false] as [Field, string, boolean], ...fields]) {
      for (const s of suspicious(text)) {
        const where = lines ? `Line ${s.line}, character ${s.column}` : `Character ${s.column}`;
        const meant = s.plain === "" ? "" : s.plain === " " ? "; a plain space may be meant" : `; ${s.plain} may be meant`;
        this.remark(field, `${where}: ${s.name} (${s.code})${meant}.`);
      }
    }
  }

  private pairs(field: "env" | "headers", text: string, base: Record<string, string>): Record<string, string> {
    const { separator, shape } = PAIRS[field];
    const pairs = new Map<string, string>();
    const seen = new Set<string>();
    for (const line of linesOf(text)) {
      const pair = decodePair(line, separator);
      if (pair === null) {
        this.problem(field, `Line ${line.number}: write ${shape}.`);
        continue;
      }
      const key = field === "headers" ? pair.name.toLowerCase() : pair.name;
      if (seen.has(key)) this.problem(field, `Line ${line.number}: ${pair.name} is set twice.`);
      seen.add(key);
      if (pair.value.includes("\n")) this.remark(field, `Line ${line.number}: ${explainEscaped("value", pair.value)}`);
      const known = Object.entries(base).find(([name]) => (field === "headers" ? name.toLowerCase() : name) === key)?.[1];
      if (known !== pair.value) this.pair(field, pair, known);
      pairs.set(pair.name, pair.value);
    }
    return Object.fromEntries(pairs);
  }

  /** A pair that the file does not have like this; `known` is the value that it has. */
  private pair(field: "env" | "headers", { number, name, value, text }: Pair, known: string | undefined) {
    const rule = PAIRS[field];
    if (known === undefined && !rule.name.test(name)) {
      this.problem(field, `Line ${number}: ${name === "" ? "the name is missing" : `“${name}” cannot be the name of ${rule.thing}`}.`);
    }
    this.mask(field, value, [], number);
    if (rule.never.test(value)) this.problem(field, `Line ${number}: the value holds a character that cannot be passed on.`);
    if (/[=:]\s*(["']).*\1\s*$/u.test(text)) this.remark(field, `Line ${number}: the quotes are part of the value.`);
  }

  /** A hidden value may be left as it is, but nothing can be made of it. */
  private mask(field: Field, value: string, known: readonly string[], line?: number) {
    if (!value.includes(MASK) || known.includes(value)) return;
    const where = line === undefined ? "" : `Line ${line}: `;
    this.problem(field, `${where}“${MASK}” stands for a value that is not shown. Leave the line as it was, or write the value out.`);
  }

  private problem(field: Field, message: string): void {
    this.problems.push({ field, message });
  }

  private remark(field: Field, message: string): void {
    this.remarks.push({ field, message });
  }
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Whether a program's name is more likely a line with arguments: `npx -y thing`, but not `/opt/My Tools/run`. */
export function looksLikeLine(command: string): boolean {
  return /^[^\s/\\]+\s+\S/u.test(command) || /^\S+\s+-/u.test(command) || /^(["']).*\1\s+\S/u.test(command);
}

function explainEscaped(thing: string, value: string): string {
  if (value === "") return `an empty ${thing}, written $''.`;
  if (value.trim() === "") return `an ${thing} of blanks only, written in $'…'.`;
  if (value.includes("\n")) return `the ${thing} holds a line break, written \\n inside $'…'.`;
  return `the ${thing} is written with escapes inside $'…'.`;
}
