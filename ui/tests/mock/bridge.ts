// Puts the owner of `owner.ts` behind the app's bridge, and in reach of the tests as `window.fake`.

import { emit } from "@tauri-apps/api/event";
import { mockIPC, mockWindows } from "@tauri-apps/api/mocks";

import type { ApiError, Snapshot } from "../../src/bindings";
import { FakeOwner } from "./owner";
import { scene } from "./scenes";

const owner = new FakeOwner(scene(new URLSearchParams(location.search).get("scene") ?? "empty"));
const held = new Map<string, (() => void)[]>();

/** What tests do to the owner from outside. */
const fake = {
  calls: [] as { command: string; args: unknown }[],
  violations: [] as string[],
  /** The error that a command answers from now on. */
  failures: {} as Record<string, ApiError | string>,
  /** Keeps a command's answers back until `release`. */
  hold: (command: string) => held.set(command, []),
  release(command: string) {
    const waiting = held.get(command) ?? [];
    held.delete(command);
    for (const go of waiting) go();
  },
  owner,
  /** A change that did not come from this window. */
  async change(part: Partial<Snapshot>) {
    Object.assign(owner.state, part);
    await tell();
  },
  async edit(change: (owner: FakeOwner) => void) {
    change(owner);
    await tell();
  },
  lose: () => emit("owner-lost", {}),
  emit,
};

declare global {
  interface Window {
    fake: typeof fake;
  }
}
window.fake = fake;
document.addEventListener("securitypolicyviolation", (event) => fake.violations.push(`${event.violatedDirective} ${event.blockedURI}`));

async function tell() {
  owner.state.revision += 1;
  await emit("snapshot-changed", { snapshot: structuredClone(owner.snapshot()) });
}

mockWindows("main");
mockIPC(
  async (command, args) => {
    fake.calls.push({ command, args: structuredClone(args ?? {}) });
    if (held.has(command)) await new Promise<void>((resolve) => held.get(command)?.push(resolve));
    const failure = fake.failures[command];
    if (failure !== undefined) throw failure;
    const before = owner.state.revision;
    const answer: unknown = owner.handle(command, (args ?? {}) as Record<string, unknown>);
    if (owner.state.revision !== before) await emit("snapshot-changed", { snapshot: structuredClone(owner.snapshot()) });
    return structuredClone(answer);
  },
  { shouldMockEvents: true },
);
