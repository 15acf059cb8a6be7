// Installs what is missing, builds, and opens the app; where there is no display, runs the headless owner instead.

import { spawn } from "node:child_process";
import { setup } from "./setup.mjs";
import { main, must, program, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

const hasDisplay = process.platform !== "linux" || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

/** Runs the program in the foreground; a signal to this script is a signal to it. Resolves to its exit code. */
function foreground(name, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program(name), args, { stdio: "inherit" });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

await main(async () => {
  await timed("setup", setup);
  await timed("ui build", buildUi);
  await timed("cargo build", () => must("cargo", ["build", "--locked", "--workspace", "--bins"]));
  const extra = process.argv.slice(2);
  if (hasDisplay) {
    console.log("\nOpening Patchbay. It stays in the tray when its window closes; Quit is in the tray's menu.");
    return foreground("patchbay-desktop", extra);
  }
  console.log("\nThere is no display here, so the headless owner runs instead (patchbay serve). Ctrl+C ends it.");
  return foreground("patchbay", ["serve", ...extra]);
}, { knows: () => true }); // they go to the program
