// A server's state: a dot and always a word.

import type { ServerState } from "../backend";
import classes from "./StateMark.module.css";

const WORDS: Record<ServerState, string> = {
  disabled: "Disabled",
  invalid: "Invalid",
  "pending-trust": "Needs trust",
  idle: "Idle",
  connecting: "Connecting…",
  connected: "Connected",
  paused: "Paused",
  "needs-sign-in": "Needs sign-in",
  failed: "Failed",
  stopping: "Stopping…",
};

const MEANINGS: Record<ServerState, string> = {
  disabled: "Configured, not started",
  invalid: "Its settings are wrong",
  "pending-trust": "A project's server that waits for your trust",
  idle: "Starts at its first use",
  connecting: "Starting",
  connected: "Works; its tools are known",
  paused: "Rests after repeated failures",
  "needs-sign-in": "Answers only after a sign-in",
  failed: "Does not work",
  stopping: "Being stopped",
};

export function StateMark({ state }: { state: ServerState }) {
  return (
    <span className={classes.mark} data-state={state} data-testid="server-state" title={MEANINGS[state]}>
      <span className={classes.dot} aria-hidden="true" />
      {WORDS[state]}
    </span>
  );
}
