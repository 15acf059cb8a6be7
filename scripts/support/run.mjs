// Runs programs for the scripts: shows their output as it comes, keeps it for counting, and times each step.

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's folder. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A program of this project, as `cargo build` leaves it. */
export const program = (name) =>
  join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "debug", process.platform === "win32" ? `${name}.exe` : name);

/** A failure that a person can act on: its message is all that is printed. */
export class Stop extends Error {}

/** npm, as this system calls it. */
export const npm = process.platform === "win32" ? "npm.cmd" : "npm";

/**
 * Runs a program to its end without standard input.
 * `quiet` keeps the output from the screen; it is in the result either way.
 * Resolves to `{ code, output }`; a program that can't be started has code 127.
 */
export function run(command, args, { env = {}, quiet = false, cwd = root } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      shell: command.endsWith(".cmd"),
    });
    const pieces = [];
    const take = (to) => (piece) => {
      pieces.push(piece);
      if (!quiet) to.write(piece);
    };
    child.stdout.on("data", take(process.stdout));
    child.stderr.on("data", take(process.stderr));
    child.on("error", (error) => resolve({ code: 127, output: `${command}: ${error.message}\n` }));
    child.on("close", (code, signal) => {
      const output = Buffer.concat(pieces).toString("utf8");
      resolve({ code: code ?? 1, output: signal ? `${output}\n${command} ended by ${signal}\n` : output });
    });
  });
}

/** Runs a program and stops with its output where it fails. */
export async function must(command, args, options = {}) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) {
    const shown = options.quiet || code === 127 ? `\n${output.trimEnd()}` : "";
    throw new Stop(`${command} ${args.join(" ")} failed (exit code ${code}).${shown}`);
  }
  return output;
}

/** Times a piece of work and says so on a line of its own. */
export async function timed(name, work) {
  const from = performance.now();
  console.log(`\n── ${name}`);
  try {
    return await work();
  } finally {
    console.log(`── ${name}: ${((performance.now() - from) / 1000).toFixed(1)} s`);
  }
}

/**
 * Runs a script's main function: prints the message of a `Stop`, the whole of any other error, and exits 1.
 * The script gets its arguments only where it says which it knows; any other one stops it before it does anything.
 */
export async function main(work, { knows = () => false } = {}) {
  try {
    const unknown = process.argv.slice(2).find((arg) => !knows(arg));
    if (unknown !== undefined) throw new Stop(`This script does not know \`${unknown}\`; nothing was done.`);
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    console.error(error instanceof Stop ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/** Whether the module at `url` is the one that Node was started with. */
export const isMain = (url) => process.argv[1] === fileURLToPath(url);
