// An owner without processes and files: settings with revisions, workspaces with states. It keeps the rules that the
// window builds on (conflicts, masks, unknown names) and nothing else.

import type { AgentView, ApiError, ErrorCode, McpServerConfig, ServerId, ServerStatus, ServerSummary, Snapshot, TrustAnswer } from "../../src/bindings";

export interface Scene {
  snapshot: Snapshot;
  configs: McpServerConfig[];
  views: Record<string, AgentView>;
  logs: Record<string, string[]>;
  trust: Record<string, TrustAnswer>;
}

export function apiError(code: ErrorCode, message: string, rest: Partial<ApiError> = {}): ApiError {
  return { code, message, hint: null, server: null, field: null, place: null, ...rest };
}

export class FakeOwner {
  readonly state: Snapshot;
  configs: McpServerConfig[];

  constructor(readonly scene: Scene) {
    this.state = scene.snapshot;
    this.configs = scene.configs;
  }

  snapshot(): Snapshot {
    return this.state;
  }

  handle(command: string, args: Record<string, unknown>): unknown {
    switch (command) {
      case "get_snapshot":
        return this.state;
      case "list_mcp_server_configs":
        return { file: this.state.config.file, revision: this.state.config.revision, servers: this.configs };
      case "save_mcp_server":
        return this.save(args["base"] as string | null, args["replaces"] as string | null, args["draft"] as McpServerConfig);
      case "remove_mcp_server":
        this.check(args["base"] as string | null);
        this.configs.splice(this.indexOf(args["name"] as string), 1);
        return this.changed();
      case "set_mcp_server_enabled": {
        const at = this.indexOf(args["name"] as string);
        this.configs[at] = { ...this.configs[at], disabled: args["enabled"] === false };
        return this.changed();
      }
      case "add_sample_server":
        this.configs.push({ name: "sample", command: "patchbay", args: ["sample-server"], auto_approve: true });
        return this.changed();
      case "open_workspace":
        return this.open(args["path"] as string | null);
      case "restart_mcp_server":
        this.status(args["workspace"] as string, args["server"] as ServerId).state = "idle";
        return this.changed() && null;
      case "list_tools":
        return this.list(args["workspace"] as string);
      case "server_log":
        return this.scene.logs[(args["server"] as ServerId).name] ?? [];
      case "answer_question":
        this.state.questions = this.state.questions.filter((q) => q.id !== args["question"]);
        return this.changed() && null;
      case "describe_trust":
        return this.scene.trust[args["path"] as string] ?? { request: null, trusted: false };
      case "trust":
      case "revoke_trust":
        (this.scene.trust[args["path"] as string] ?? { trusted: false }).trusted = command === "trust";
        return this.changed() && null;
      case "quit":
        return null;
      default:
        throw new Error(`no such command: ${command}`);
    }
  }

  /** As if an editor had written the file. */
  changed() {
    this.state.revision += 1;
    this.state.config = { ...this.state.config, revision: `r${this.state.revision}`, servers: this.summaries() };
    return { revision: this.state.config.revision };
  }

  private save(base: string | null, replaces: string | null, draft: McpServerConfig) {
    this.check(base);
    const at = replaces === null ? this.configs.length : this.indexOf(replaces);
    if (this.configs.some((other, where) => where !== at && other.name === draft.name)) {
      throw apiError("INVALID", `The name “${draft.name}” is taken.`, { field: "name" });
    }
    this.configs[at] = draft;
    return this.changed();
  }

  private check(base: string | null) {
    if (base !== null && base !== this.state.config.revision) throw apiError("CONFLICT", "The settings file was changed since.");
  }

  private indexOf(name: string): number {
    const at = this.configs.findIndex((config) => config.name === name);
    if (at < 0) throw apiError("MCP_SERVER_NOT_FOUND", `There is no server “${name}”.`, { server: name });
    return at;
  }

  private summaries(): ServerSummary[] {
    const old = this.state.config.servers;
    const valid = this.configs.map((config): ServerSummary => {
      const before = old.find((s) => s.name === config.name && s.invalid === null);
      const enabled = config.disabled !== true;
      return {
        name: config.name ?? null,
        enabled,
        transport: config.url == null ? "stdio" : "http",
        line: config.url ?? [config.command, ...(config.args ?? [])].join(" "),
        invalid: null,
        state: enabled ? (before?.state === "disabled" ? "idle" : (before?.state ?? null)) : "disabled",
        cause: enabled ? (before?.cause ?? null) : null,
      };
    });
    return [...valid, ...old.filter((s) => s.invalid !== null)];
  }

  private open(path: string | null): string {
    if (path?.includes("missing") === true) throw apiError("NOT_FOUND", `There is no folder ${path}.`, { hint: "Check the path." });
    const key = path === null ? "none" : `key-of-${path}`;
    if (!this.state.workspaces.some((w) => w.key === key)) {
      this.state.workspaces = [...this.state.workspaces, { key, path, users: 1, servers: [], problems: [] }];
      this.changed();
    }
    return key;
  }

  private status(workspace: string, id: ServerId): ServerStatus {
    const status = this.state.workspaces.find((w) => w.key === workspace)?.servers.find((s) => s.id.name === id.name);
    if (status === undefined) throw apiError("NOT_FOUND", "It is not running.");
    return status;
  }

  private list(workspace: string): AgentView {
    for (const server of this.state.workspaces.find((w) => w.key === workspace)?.servers ?? []) {
      if (server.state === "idle") Object.assign(server, { state: "connected", pid: 4321, toolCount: 2 });
    }
    this.changed();
    return this.scene.views[workspace] ?? { workspace, agent: { name: null, sub_agent: false }, servers: [] };
  }
}
