// Builds the window's files into ui/dist, where the desktop app embeds them; does nothing where they are up to date.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { must, npm, root } from "./run.mjs";

const stamp = join(root, ".cache", "ui-build");
const skipped = new Set(["dist", "node_modules"]);

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (skipped.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

/** One digest over every file that the build reads. */
function digest() {
  const hash = createHash("sha256");
  for (const path of [join(root, "package-lock.json"), ...files(join(root, "ui"))]) {
    hash.update(`${relative(root, path)}\0`).update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** Builds ui/dist if a file of ui/ changed since the last build. */
export async function buildUi() {
  const now = digest();
  const built = existsSync(join(root, "ui", "dist", "index.html"));
  if (built && existsSync(stamp) && readFileSync(stamp, "utf8") === now) return;
  await must(npm, ["run", "--silent", "ui:build"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, now);
}
