// Finds the processes of one test run by a mark in their environment, which their children inherit.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The variable that marks them. */
export const MARK = "TEST_RUN_ID";

const quietly = (read) => {
  try {
    return read();
  } catch {
    return undefined; // it ended, or it is another user's
  }
};

/** One process: pid, parent, state and command line; `undefined` when it is gone. */
function describe(pid) {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const args = quietly(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
  const program = quietly(() => readlinkSync(`/proc/${pid}/exe`)) ?? "";
  return { pid, parent: Number(parent), state, program, command: args.split("\0").filter(Boolean).join(" ") };
}

/** The living processes whose environment has the mark. */
export function marked(id) {
  const wanted = `${MARK}=${id}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) =>
      quietly(() => readFileSync(`/proc/${pid}/environ`, "utf8"))
        ?.split("\0")
        .includes(wanted),
    )
    .map(describe)
    .filter((found) => found && found.state !== "Z");
}

/** Whether a process lives; a zombie doesn't. */
export function alive(pid) {
  const found = describe(pid);
  return found !== undefined && found.state !== "Z";
}
