// However the desktop app ends, nothing that it started is left: servers, their children, and what left their group.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Headless, program } from "../support/headless.mjs";
import { alive } from "../support/processes.mjs";
import { Tray } from "../support/tray.mjs";
import { until } from "../support/wait.mjs";
import { closeWindows, windows } from "../support/x11.mjs";

/** A server three deep: a shell, the server, and two children that ignore SIGTERM, one of which left the group. */
const script = {
  ignore_sigterm: true,
  on: { start: [{ spawn: { ignore_sigterm: true } }, { spawn: { daemon: true, ignore_sigterm: true } }] },
};

function settings(desktop) {
  const servers = [true, false].map((sandbox) => {
    const name = sandbox ? "held" : "free";
    const file = join(desktop.dir, "tmp", `${name}.json`);
    writeFileSync(file, JSON.stringify({ ...script, record: join(desktop.dir, "tmp", `${name}.jsonl`) }));
    const args = ["-c", '"$0" "$@"; true', program("fake_server"), "--script", file];
    return [
      "[[mcp.servers]]",
      `name = "${name}"`,
      'command = "sh"',
      `args = ${JSON.stringify(args)}`,
      `prefix = "${name}"`,
      `sandbox = ${sandbox}`,
    ].join("\n");
  });
  mkdirSync(desktop.patchbayHome, { recursive: true, mode: 0o700 });
  writeFileSync(join(desktop.patchbayHome, "settings.toml"), `${servers.join("\n\n")}\n`);
}

/** Pids that the unsandboxed server and its children wrote down; a sandboxed one knows only its namespace's. */
function recorded(desktop) {
  const lines = readFileSync(join(desktop.dir, "tmp", "free.jsonl"), "utf8").trim().split("\n");
  const events = lines.map((line) => JSON.parse(line));
  return events.filter(({ event }) => event === "start" || event === "descendant").map(({ pid }) => pid);
}

/** Starts the app with both servers running, ends it by `cause`, and waits until nothing of it lives. */
async function endsBy(cause) {
  const desktop = await Headless.start();
  try {
    const tray = await Tray.start(desktop);
    settings(desktop);
    const app = desktop.spawn(program("patchbay-desktop"));
    await tray.item();
    await until("the window", async () => (await windows(desktop.env.DISPLAY)).length === 1);
    const listed = await desktop.run(program("patchbay"), ["tools"]);
    assert.match(listed.stdout, /held__echo[^]*free__echo/, listed.stderr);
    const pids = await until("the children to be written down", () => {
      const pids = recorded(desktop);
      return pids.length === 3 ? pids : undefined;
    });
    assert.ok(pids.every(alive));
    await cause({ desktop, tray, app });
    await app.ended;
    await until("every process to end", () => !pids.some(alive));
    const ours = () => desktop.processes().filter(({ program }) => /fake_server|bwrap|patchbay-desktop/.test(program));
    await until("everything of the app to end", () => ours().length === 0).catch(() => assert.deepEqual(ours(), []));
  } finally {
    assert.deepEqual(await desktop.stop(), [], "nothing is left behind");
  }
}

describe("nothing outlives the desktop app when it ends by", () => {
  test("Quit in the tray", () => endsBy(({ tray }) => tray.click("Quit")));
  test("its window being closed and then Quit", () =>
    endsBy(async ({ desktop, tray }) => {
      await closeWindows(desktop.env.DISPLAY);
      await until("the window to go", async () => (await windows(desktop.env.DISPLAY)).length === 0);
      await tray.click("Quit");
    }));
  test("SIGTERM, as at the end of a session", () => endsBy(({ app }) => app.process.kill("SIGTERM")));
  test("SIGKILL", () => endsBy(({ app }) => app.process.kill("SIGKILL")));
  test("a crash", () => endsBy(({ app }) => app.process.kill("SIGABRT")));
  test("the display going away", () => endsBy(({ desktop }) => desktop.lose("Xvfb")));
  test("the session bus going away", () => endsBy(({ desktop }) => desktop.lose("dbus-daemon")));
});
