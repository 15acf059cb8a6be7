// A real server that this project didn't write: npm's server-everything.

import { join } from "node:path";
import { root } from "./headless.mjs";

/** Its program and arguments. */
export const everything = {
  command: process.execPath,
  args: [join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")],
};

/** Its processes on the desktop; the launcher of a sandbox counts as one of them. */
export const everythingOn = (desktop) =>
  desktop.processes().filter(({ command }) => command.includes("server-everything"));
