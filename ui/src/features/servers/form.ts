// What the form holds while a person types, made from a server's settings. The way back is in validate.ts. Pure.

import type { McpServerConfig } from "../../backend";
import { encodeLine, encodeList, encodePairs } from "./lines";

/** Stands where the owner keeps a secret to itself; sent back, it means "as it is". */
export const MASK = "••••••••";

/** A call's limit where none is set, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 300;

export type Kind = "command" | "url";

/** Who is offered the tools: the active primary agent, every agent, or those named. */
export type Audience = "primary" | "all" | "named";

export interface FormState {
  name: string;
  kind: Kind;
  command: string;
  /** One a line, in the notation of lines.ts; so are the other lists. */
  args: string;
  env: string;
  sandbox: boolean;
  url: string;
  headers: string;
  autoApprove: boolean;
  /** Seconds as typed; empty: the default. */
  timeout: string;
  audience: Audience;
  agents: string;
}

const NEW: McpServerConfig = {};

/** The form for a server, or for a new one. */
export function formOf(base: McpServerConfig | null): FormState {
  const server = base ?? NEW;
  const agents = server.agents ?? [];
  const all = agents.length === 1 && agents[0] === "*";
  return {
    name: server.name ?? "",
    kind: kindOf(server),
    command: line(server.command),
    args: encodeList(server.args ?? []),
    env: encodePairs(server.env ?? {}, "="),
    sandbox: server.sandbox !== false,
    url: line(server.url),
    headers: encodePairs(server.headers ?? {}, ":"),
    autoApprove: server.auto_approve ?? false,
    timeout: server.timeout_seconds == null ? "" : String(server.timeout_seconds),
    audience: agents.length === 0 ? "primary" : all ? "all" : "named",
    agents: all ? "" : encodeList(agents),
  };
}

function line(value: string | null | undefined): string {
  return value == null || value === "" ? "" : encodeLine(value);
}

/** How a server is reached, by what it has. */
export function kindOf(server: McpServerConfig): Kind {
  return server.url != null && server.command == null ? "url" : "command";
}

/** The newest state of the server with what the person has changed since `before` on top. */
export function rebase(mine: FormState, before: FormState, newest: FormState): FormState {
  const changed = Object.entries(mine).filter(([key, value]) => before[key as keyof FormState] !== value);
  return { ...newest, ...Object.fromEntries(changed) };
}

export function isChanged(form: FormState, before: FormState): boolean {
  return (Object.keys(form) as (keyof FormState)[]).some((key) => form[key] !== before[key]);
}

/** Keys that the file has and the form does not show. They survive an edit; of another transport's only the common ones. */
export function hiddenKeys(base: McpServerConfig | null): string[] {
  if (base === null) return [];
  const keys: (keyof McpServerConfig)[] = ["type", "cwd", "tools", "prefix", "max_seconds", "health_check", "oauth", "always_allow"];
  return keys.filter((key) => {
    const value = base[key];
    return Array.isArray(value) ? value.length > 0 : value != null;
  });
}
