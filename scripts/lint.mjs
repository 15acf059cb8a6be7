// Format and lints of everything. Warnings are errors.

import { setup } from "./setup.mjs";
import { isMain, main, npm, run, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

/** The lints in the order of their cost: name, program, arguments. */
export const lints = [
  ["cargo fmt", "cargo", ["fmt", "--check"]],
  ["ui lint", npm, ["run", "--silent", "ui:lint"]],
  ["clippy", "cargo", ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]],
];

/** Runs every lint, also after one that fails; returns the names of those that failed. */
export async function lint() {
  const failed = [];
  for (const [name, command, args] of lints) {
    await timed(name, async () => {
      if ((await run(command, args)).code !== 0) failed.push(name);
    });
  }
  return failed;
}

if (isMain(import.meta.url)) {
  await main(async () => {
    await timed("setup", setup);
    await timed("ui build", buildUi); // the desktop crate embeds it while it compiles
    const failed = await lint();
    console.log(failed.length === 0 ? "\nAll lints hold." : `\nFailed: ${failed.join(", ")}`);
    return failed.length === 0 ? 0 : 1;
  });
}
