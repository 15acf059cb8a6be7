// Builds the release binaries of the desktop app and the command line into target/release.

import { setup } from "./setup.mjs";
import { main, must, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

await main(async () => {
  await timed("setup", setup);
  await timed("ui build", buildUi);
  await timed("cargo build --release", () =>
    must("cargo", ["build", "--locked", "--release", "-p", "patchbay-desktop", "-p", "patchbay-cli"]),
  );
  console.log("\nBuilt target/release/patchbay-desktop and target/release/patchbay");
});
