// The built app in a real browser engine, served with the content security policy of the desktop app, over an owner
// that lives in the page. One build and one browser for all tests of a file.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";

const CSP =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src ipc: http://ipc.localhost";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2" };
const here = fileURLToPath(new URL("..", import.meta.url));

async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    try {
      const body = await readFile(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html", "content-security-policy": CSP, "cache-control": path.startsWith("/assets/") ? "max-age=3600" : "no-store" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const folder = await mkdtemp(join(tmpdir(), "patchbay-ui-"));
await build({
  root: join(here, "mock"),
  configFile: join(here, "../vite.config.ts"),
  logLevel: "error",
  build: { outDir: folder, emptyOutDir: true },
});
const server = await serve(folder);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
after(async () => {
  await browser.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const contexts = new Map();

/** Contexts are shared, and with them what the browser has cached of the app; a page with a clock of its own has its own. */
async function contextFor(dark, own) {
  const make = async () => {
    const context = await browser.newContext({ colorScheme: dark ? "dark" : "light", reducedMotion: "reduce", timezoneId: "UTC" });
    context.setDefaultTimeout(8000);
    return context;
  };
  if (own) return make();
  if (!contexts.has(dark)) contexts.set(dark, await make());
  return contexts.get(dark);
}

/**
 * Runs `act` in a new window on a scene; fails if the page logged an error or broke the policy. `prepare` runs in the
 * page before the app; `own` gives the window a browser context of its own.
 */
export async function inWindow(scene, act, { dark = false, size = [900, 640], own = false, prepare } = {}) {
  const context = await contextFor(dark, own);
  const page = await context.newPage();
  await page.setViewportSize({ width: size[0], height: size[1] });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  if (prepare !== undefined) await page.addInitScript(prepare);
  try {
    await page.goto(`http://127.0.0.1:${server.address().port}/?scene=${scene}`);
    await act(page);
    const violations = await page.evaluate(() => {
      localStorage.clear();
      return window.fake.violations;
    });
    if (errors.length + violations.length > 0) throw new Error(`the page complained: ${[...errors, ...violations].join("; ")}`);
  } finally {
    await (own ? context : page).close();
  }
}

/** The arguments of every call of a command, oldest first. */
export function calls(page, command) {
  return page.evaluate((name) => window.fake.calls.filter((call) => call.command === name).map((call) => call.args), command);
}

/** The element with a test id. */
export const id = (name) => `[data-testid="${name}"]`;

/** The row of a server in the settings. */
export const row = (page, name) => page.locator(`[data-testid="server-row"][data-server="${name}"]`);
