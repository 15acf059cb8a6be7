// The main job in the real app: owner and window process, the real web engine, a real tray on D-Bus, a real server.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { everything, everythingOn } from "../support/everything.mjs";
import { Headless, output, program } from "../support/headless.mjs";
import { colours, looksDrawn } from "../support/picture.mjs";
import { alive } from "../support/processes.mjs";
import { Tray } from "../support/tray.mjs";
import { until } from "../support/wait.mjs";
import { View } from "../support/webdriver.mjs";
import { closeWindows, windows } from "../support/x11.mjs";

const id = (name) => `[data-testid="${name}"]`;
const row = (name) => `${id("server-row")}[data-server="${name}"]`;
const card = (name) => `${id("workspace-server")}[data-server="${name}"]`;

describe("the desktop app", () => {
  let desktop;
  let tray;
  let view;

  before(async () => {
    mkdirSync(output, { recursive: true });
    desktop = await Headless.start();
    tray = await Tray.start(desktop);
    view = await View.open(desktop, program("patchbay-desktop"));
  });

  after(async () => {
    await view?.close();
    assert.deepEqual(await desktop.stop(), [], "nothing is left behind");
  });

  const settings = () => readFileSync(join(desktop.patchbayHome, "settings.toml"), "utf8");
  const patchbay = async (...args) => {
    const done = await desktop.run(program("patchbay"), args);
    assert.equal(done.code, 0, `patchbay ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  };
  const state = (css, wanted) =>
    until(`${css} to be ${wanted}`, async () => (await view.has(`${css}[data-state="${wanted}"]`)) || undefined);
  const running = () => everythingOn(desktop).length > 0;

  /** Keeps a picture of the page in each theme, and checks that both show something, on different grounds. */
  async function pictures(name) {
    const grounds = [];
    for (const theme of ["light", "dark"]) {
      await view.click(`${id("theme")} input[value="${theme}"] + label`);
      await until(`the ${theme} theme`, () =>
        view.script("return document.documentElement.dataset.mantineColorScheme === arguments[0]", theme),
      );
      // Dialogs and themes fade in.
      await until("the page to stand still", () =>
        view.script("return document.getAnimations().every((a) => a.playState !== 'running')"),
      );
      // The engine may still owe the first frame of a page that stands already.
      const picture = await until(`${name} in ${theme} to show something`, async () => {
        const picture = await view.screenshot();
        writeFileSync(join(output, `${name}-${theme}.png`), picture);
        return looksDrawn(picture) ? picture : undefined;
      });
      grounds.push(colours(picture).background);
    }
    const [light, dark] = grounds.map((colour) => (colour >> 16) + ((colour >> 8) & 255) + (colour & 255));
    assert.ok(light > 600 && dark < 200, `light ground ${light}, dark ground ${dark}`);
  }

  test("the first run explains what a server is and offers two ways to one", async () => {
    assert.match(await view.text(id("first-run")), /server/i);
    assert.ok(await view.has(id("try-sample")));
    await tray.item();
    const servers = await tray.until("the servers", ["MCP servers"], ({ children }) => children.length > 0);
    assert.deepEqual(
      servers.children.map(({ enabled }) => enabled),
      [false],
      "a note, and nothing to click",
    );
    await pictures("first-run");
  });

  test("a form with problems says so and saves nothing", async () => {
    await view.click(id("add-server"));
    await view.fill(id("field-name"), "no spaces please");
    await view.click(id("form-save"));
    await view.text(id("problem-name"));
    assert.ok((await view.texts(id("form-problem"))).length >= 2, "the name, and the missing command");
    assert.throws(settings, { code: "ENOENT" });
    await pictures("form-problems");
  });

  test("a server added through the form stands in the file, idle and without a process", async () => {
    await view.fill(id("field-name"), "everything");
    await view.fill(id("field-command"), everything.command);
    await view.fill(id("field-args"), everything.args.join("\n"));
    await view.click(id("form-save"));
    await state(row("everything"), "idle");
    assert.match(settings(), /name = "everything"/);
    assert.equal(running(), false);
    assert.equal((await tray.until("the new server", ["MCP servers", "everything"], () => true)).checked, true);
  });

  test("it connects when its tools are first listed, and shows them", async () => {
    await view.click(id("nav-workspaces"));
    await view.click(id("workspace-open-none"));
    await state(card("everything"), "idle");
    assert.equal(running(), false);
    await view.click(id("show-tools"));
    await state(card("everything"), "connected");
    await view.text(`${card("everything")} ${id("tool")}[data-tool="echo"]`);
    assert.equal(running(), true);
    await pictures("workspace");
  });

  test("the command line sees the same server of the same owner", async () => {
    assert.match(await patchbay("status"), /everything\s.*connected/);
    const before = everythingOn(desktop).map(({ pid }) => pid);
    assert.match(await patchbay("tools"), /echo/);
    assert.deepEqual(
      everythingOn(desktop).map(({ pid }) => pid),
      before,
      "the owner's server answered, no second one was started",
    );
  });

  test("file, window and process follow each click in the tray", async () => {
    await view.click(id("nav-servers"));
    await state(row("everything"), "connected");
    await pictures("servers");

    await tray.click("MCP servers", "everything");
    await state(row("everything"), "disabled");
    assert.match(settings(), /disabled = true/);
    await until("the process to end", () => !running());
    await tray.until("the mark to go", ["MCP servers", "everything"], ({ checked }) => checked === false);

    await tray.click("MCP servers", "everything");
    await state(row("everything"), "idle");
    assert.doesNotMatch(settings(), /disabled = true/);
    assert.equal(running(), false, "it starts at its first use");
    await tray.until("the mark to come back", ["MCP servers", "everything"], ({ checked }) => checked === true);

    await patchbay("tools");
    await state(row("everything"), "connected");
    assert.equal(running(), true);
  });

  test("the tray follows a click in the window and an edit of the file", async () => {
    await view.click(`${row("everything")} ${id("server-switch")}`);
    await tray.until("the mark to go", ["MCP servers", "everything"], ({ checked }) => checked === false);
    const file = join(desktop.patchbayHome, "settings.toml");
    writeFileSync(file, settings().replace("disabled = true", "disabled = false"));
    await tray.until("the mark to come back", ["MCP servers", "everything"], ({ checked }) => checked === true);
    await state(row("everything"), "idle");
    assert.equal((await tray.counts()).registrations, 1, "the menu was changed in place");
  });

  test("closing the window keeps the tray and the servers, and the tray opens it again", async () => {
    await patchbay("tools");
    const before = everythingOn(desktop).map(({ pid }) => pid);
    await closeWindows(desktop.env.DISPLAY);
    await until("the window to go", async () => (await windows(desktop.env.DISPLAY)).length === 0);
    await until("the web engine to end", () => !desktop.processes().some(({ program }) => program.includes("WebKitWebProcess")));
    assert.equal((await tray.entry("MCP servers", "everything")).checked, true);
    assert.deepEqual(
      everythingOn(desktop).map(({ pid }) => pid),
      before,
    );
    await tray.click("Open Patchbay");
    await until("a window", async () => (await windows(desktop.env.DISPLAY)).length === 1);
  });

  test("a window whose process is killed takes nothing else with it", async () => {
    const isWindow = ({ command }) => command.includes("patchbay-desktop --window");
    const before = everythingOn(desktop).map(({ pid }) => pid);
    const [shown] = desktop.processes().filter(isWindow);
    process.kill(shown.pid, "SIGKILL");
    await until("the window to go", async () => (await windows(desktop.env.DISPLAY)).length === 0);
    assert.match(await patchbay("status"), /everything\s.*connected/);
    assert.deepEqual(
      everythingOn(desktop).map(({ pid }) => pid),
      before,
    );
    await tray.click("Open Patchbay");
    await until("a window", async () => (await windows(desktop.env.DISPLAY)).length === 1);
    assert.notEqual(desktop.processes().filter(isWindow)[0].pid, shown.pid);
  });

  test("Quit in the tray ends everything", async () => {
    const ours = desktop.processes().filter(({ program }) => /patchbay-desktop|server-everything|WebKit\w+Process/.test(program));
    assert.ok(ours.length >= 2);
    await tray.click("Quit");
    await tray.gone();
    await until("every process to end", () => !running() && ours.every(({ pid }) => !alive(pid)));
    await until("the windows to go", async () => (await windows(desktop.env.DISPLAY)).length === 0);
  });
});

test("the sample server makes the main job work with nothing else installed", async () => {
  const desktop = await Headless.start();
  try {
    const tray = await Tray.start(desktop);
    const view = await View.open(desktop, program("patchbay-desktop"));
    await view.click(id("try-sample"));
    await view.text(`${id("server-row")}[data-state="idle"]`);
    await view.click(id("nav-workspaces"));
    await view.click(id("workspace-open-none"));
    await view.click(id("show-tools"));
    await view.text(`${id("workspace-server")}[data-state="connected"]`);
    assert.deepEqual(await view.script(`return [...document.querySelectorAll('${id("tool")}')].map((e) => e.dataset.tool)`), [
      "echo",
      "add",
      "time",
    ]);
    const samples = desktop.processes().filter(({ command }) => command.endsWith("sample-server"));
    assert.notEqual(samples.length, 0, "it is a real process");
    await tray.click("Quit");
    await tray.gone();
    await view.close();
  } finally {
    assert.deepEqual(await desktop.stop(), [], "nothing is left behind");
  }
});
