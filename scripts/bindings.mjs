// Writes ui/src/bindings.ts anew from the Rust types. The same test without the variable only compares.

import { setup } from "./setup.mjs";
import { main, must, timed } from "./support/run.mjs";
import { buildUi } from "./support/ui.mjs";

await main(async () => {
  await timed("setup", setup);
  await timed("ui build", buildUi);
  const args = ["test", "--locked", "-p", "patchbay-desktop", "bindings"];
  await timed("bindings", () => must("cargo", args, { env: { PATCHBAY_WRITE_BINDINGS: "1" } }));
});
