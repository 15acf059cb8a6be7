// Runs the app with the window's files served by Vite, so that an edit of ui/ shows at once.

import { spawn } from "node:child_process";
import { setup } from "./setup.mjs";
import { main, root, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

await main(async () => {
  await timed("setup", setup);
  await timed("ui build", buildUi);
  const { createServer } = await import("vite");
  const server = await createServer({ root: `${root}/ui`, server: { host: "127.0.0.1" } });
  await server.listen();
  const [address] = server.resolvedUrls.local;
  console.log(`\nThe window's files come from ${address}`);
  // Read while the desktop crate compiles; the address takes the place of the embedded files.
  const env = { ...process.env, TAURI_CONFIG: JSON.stringify({ build: { devUrl: address } }) };
  const args = ["run", "--locked", "-p", "patchbay-desktop", "--", ...process.argv.slice(2)];
  const code = await new Promise((resolve) => {
    spawn("cargo", args, { cwd: root, env, stdio: "inherit" }).on("close", (code) => resolve(code ?? 1));
  });
  await server.close();
  return code;
}, { knows: () => true }); // they go to the program
