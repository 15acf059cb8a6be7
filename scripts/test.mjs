// Everything that must hold, headless: installs what is missing, lints, builds, runs every test of the project.
// The last line is `N passed, N failed`, summed over all runners.

import * as counts from "./support/counts.mjs";
import { lint } from "./lint.mjs";
import { setup, setupTests } from "./setup.mjs";
import { main, must, npm, run, Stop, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

const workspace = ["--locked", "--workspace", "--all-targets"];

/** The runners in the order in which they run: name, reader of their numbers, program, arguments. */
const runners = [
  ["scripts", counts.node, npm, ["run", "--silent", "scripts:test"]],
  ["cargo test", counts.cargo, "cargo", ["test", ...workspace, "--no-fail-fast"]],
  ["ui tests", counts.node, npm, ["run", "--silent", "ui:test"]],
  ["end to end", counts.node, npm, ["run", "--silent", "e2e"]],
];

const total = { passed: 0, failed: 0 };
const problems = [];

async function check(name, read, command, args) {
  const { code, output } = await run(command, args, { env: { CI: "true" } });
  const { passed, failed, note } = counts.outcome(code, read(output));
  total.passed += passed;
  total.failed += failed;
  if (failed > 0) problems.push(`${name}: ${failed} failed${note ? ` (${note})` : ""}`);
}

async function everything() {
  await timed("setup", setup);
  // The tests' own packages are not needed to compile: they come while cargo works.
  const testParts = setupTests().then(
    () => null,
    (error) => error,
  );
  try {
    await timed("ui build", buildUi);
    const failed = await lint();
    total.failed += failed.length;
    problems.push(...failed.map((name) => `${name} failed`));
    await timed("cargo build", () => must("cargo", ["build", ...workspace]));
  } finally {
    const error = await timed("setup of the tests (the rest of it)", () => testParts);
    if (error) throw error;
  }
  for (const [name, read, command, args] of runners) {
    await timed(name, () => check(name, read, command, args));
  }
}

await main(async () => {
  const from = performance.now();
  try {
    await everything();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    total.failed += 1;
    problems.push(error.message);
  }
  console.log(`\nWhole run: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  for (const problem of problems) console.log(problem);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});
