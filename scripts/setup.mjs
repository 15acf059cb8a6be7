// Installs what is missing: system packages, npm packages, and for the tests a Python environment.
// Safe to run again; what is there already is only looked at.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forTests, forUse, installPackages } from "./support/packages.mjs";
import { isMain, main, must, npm, root, run, Stop } from "./support/run.mjs";

const requirements = join(root, "tests", "python", "requirements.txt");
const venv = join(root, ".cache", "venv");

/** The Python that has the packages of `tests/python/requirements.txt`. */
export const venvPython = join(venv, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));

/** Does `work` unless `stamp` says that it was done for exactly these inputs; the stamp lives in what it vouches for. */
async function once(stamp, inputs, work) {
  const digest = createHash("sha256").update(inputs.join("\0")).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  rmSync(stamp, { force: true });
  await work();
  writeFileSync(stamp, digest);
}

async function npmPackages() {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  await once(join(root, "node_modules", ".installed"), [lock, process.version], async () => {
    console.log("Installing npm packages");
    await must(npm, ["ci", "--no-audit", "--no-fund"], { quiet: true });
  });
}

async function pythonPackages() {
  // Debian's own, for which python3-venv is made; elsewhere whatever is called python3.
  const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  const { output: version } = await run(python, ["--version"], { quiet: true });
  await once(join(venv, ".installed"), [readFileSync(requirements, "utf8"), version], async () => {
    console.log("Installing Python packages for the tests");
    mkdirSync(venv, { recursive: true });
    await must(python, ["-m", "venv", "--clear", venv], { quiet: true });
    await must(venvPython, ["-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements], { quiet: true });
  });
}

async function rust() {
  const { code, output } = await run("cargo", ["--version"], { quiet: true });
  if (code !== 0) throw new Stop("Rust is missing: cargo was not found. Install Rust 1.90 or newer, then try again.");
  const [, major, minor] = /cargo (\d+)\.(\d+)/.exec(output) ?? [];
  if (Number(major) === 1 && Number(minor) < 90) {
    throw new Stop(`Rust is too old: ${output.trim()}. Patchbay needs Rust 1.90 or newer.`);
  }
}

/** Waits for all of them, even when one fails: nothing goes on behind a message. */
async function together(...work) {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

/** What `npm start` needs. */
export async function setup() {
  await rust();
  await together(
    installPackages(forUse),
    npmPackages(),
    must("cargo", ["fetch", "--locked"], { quiet: true }),
  );
}

/** What only `npm test` needs. May run while cargo works. */
export async function setupTests() {
  await installPackages(forTests);
  await pythonPackages();
}

if (isMain(import.meta.url)) {
  await main(async () => {
    await setup();
    if (process.argv.includes("--tests")) await setupTests();
  }, { knows: (arg) => arg === "--tests" });
}
