// The window's one way to the owner: its commands as plain async functions, its state as a store to subscribe to.
// Nothing else imports the generated bindings.

import { commands, events, type AgentId, type ApiError, type ErrorCode, type Place, type Snapshot } from "./bindings";

export type {
  AgentId,
  AgentView,
  Answer,
  BrokenFile,
  ConfigState,
  ErrorCode,
  InvalidServer,
  Leak,
  McpServerConfig,
  McpServerConfigs,
  OwnerInfo,
  Place,
  Question,
  SandboxState,
  ServerId,
  ServerState,
  ServerStatus,
  ServerSummary,
  ServerTools,
  Snapshot,
  ToolSummary,
  TransportKind,
  TrustRequest,
  TrustServer,
  WorkspaceState,
} from "./bindings";

/** A failure that the owner, or the bridge to it, answered. */
export class BackendError extends Error {
  readonly code: ErrorCode;
  /** What to do next. */
  readonly hint: string | null;
  readonly server: string | null;
  /** The settings key that it is about. */
  readonly field: string | null;
  readonly place: Place | null;

  constructor(error: ApiError) {
    super(error.message);
    this.name = "BackendError";
    this.code = error.code;
    this.hint = error.hint;
    this.server = error.server;
    this.field = error.field;
    this.place = error.place;
  }

  /** Any failure as one that can be shown. */
  static from(error: unknown): BackendError {
    if (error instanceof BackendError) return error;
    if (isApiError(error)) return new BackendError(error);
    // The bridge itself answers plain text.
    const message = error instanceof Error ? error.message : typeof error === "string" ? error : "The window could not talk to Patchbay.";
    return new BackendError({ code: "INTERNAL", message, hint: null, server: null, field: null, place: null });
  }
}

function isApiError(error: unknown): error is ApiError {
  return typeof error === "object" && error !== null && "code" in error && "message" in error;
}

type Answered<T> = { status: "ok"; data: T } | { status: "error"; error: ApiError };

async function ask<T>(answer: Promise<Answered<T>>): Promise<T> {
  let result: Answered<T>;
  try {
    result = await answer;
  } catch (error) {
    throw BackendError.from(error);
  }
  if (result.status === "error") throw BackendError.from(result.error);
  return result.data;
}

/** Who asks for a workspace's tools here: the active primary agent. */
const PRIMARY: AgentId = { name: null, sub_agent: false };

type Arguments<K extends keyof typeof commands> = Parameters<(typeof commands)[K]>;

export const listMcpServerConfigs = () => ask(commands.listMcpServerConfigs());
export const saveMcpServer = (...args: Arguments<"saveMcpServer">) => ask(commands.saveMcpServer(...args));
export const removeMcpServer = (...args: Arguments<"removeMcpServer">) => ask(commands.removeMcpServer(...args));
export const setMcpServerEnabled = (...args: Arguments<"setMcpServerEnabled">) => ask(commands.setMcpServerEnabled(...args));
export const addSampleServer = () => ask(commands.addSampleServer());
export const openWorkspace = (...args: Arguments<"openWorkspace">) => ask(commands.openWorkspace(...args));
export const restartMcpServer = (...args: Arguments<"restartMcpServer">) => ask(commands.restartMcpServer(...args));
export const listTools = (workspace: string) => ask(commands.listTools(workspace, PRIMARY));
export const serverLog = (...args: Arguments<"serverLog">) => ask(commands.serverLog(...args));
export const answerQuestion = (...args: Arguments<"answerQuestion">) => ask(commands.answerQuestion(...args));
export const describeTrust = (...args: Arguments<"describeTrust">) => ask(commands.describeTrust(...args));
export const trust = (...args: Arguments<"trust">) => ask(commands.trust(...args));
export const revokeTrust = (...args: Arguments<"revokeTrust">) => ask(commands.revokeTrust(...args));
export const quit = () => ask(commands.quit());

/** What the window knows of the owner. */
export interface OwnerState {
  /** Its newest state; `null` until the first has come. */
  snapshot: Snapshot | null;
  /** Why there is no state. */
  error: BackendError | null;
  /** Whether the owner has gone. */
  lost: boolean;
}

let state: OwnerState = { snapshot: null, error: null, lost: false };
const listeners = new Set<() => void>();

function set(next: Partial<OwnerState>) {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

function take(snapshot: Snapshot) {
  // An answer may be overtaken by a newer event.
  if (state.snapshot === null || snapshot.revision >= state.snapshot.revision) set({ snapshot, error: null });
}

/** The store of the owner's state, for `useSyncExternalStore`. */
export const owner = {
  get: () => state,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  /** Asks for the state of this moment; an error stands in the store. */
  async refresh() {
    try {
      take(await ask(commands.getSnapshot()));
    } catch (error) {
      set({ error: BackendError.from(error) });
    }
  },
};

const wishes = new Set<() => void>();

/** Calls `show` whenever the settings are asked for from outside the window; answers how to stop that. */
export function onShowSettings(show: () => void): () => void {
  wishes.add(show);
  return () => wishes.delete(show);
}

/** Follows the owner from now on. Called once. */
export async function follow() {
  try {
    await events.snapshotChanged.listen((event) => take(event.payload.snapshot));
    await events.ownerLost.listen(() => set({ lost: true }));
    await events.showSettings.listen(() => {
      for (const show of wishes) show();
    });
  } catch (error) {
    set({ error: BackendError.from(error) });
  }
  await owner.refresh();
}
