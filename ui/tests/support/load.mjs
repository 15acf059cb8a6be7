// Loads the UI's TypeScript modules into Node, through the same compiler as the app.

import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Gives the exports of modules below `src`. */
export async function load(...paths) {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  after(() => server.close());
  const modules = await Promise.all(paths.map((path) => server.ssrLoadModule(`/src/${path}`)));
  return Object.assign({}, ...modules);
}
