// Settings › MCP servers: the list.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { calls, id, inWindow, row } from "../support/window.mjs";

const names = (page) => page.locator(id("server-name")).allInnerTexts();

test("the servers stand in the order of the file, each with its state in a word", async () => {
  await inWindow("all", async (page) => {
    await page.locator(id("server-row")).first().waitFor();
    deepEqual(await names(page), ["everything", "files", "tracker", "wiki", "database", "browser", "old-one", "我的 сервер", "both-ways", "Without a name"]);
    deepEqual(await page.locator(id("server-state")).allInnerTexts(), [
      "Connected", "Failed", "Needs sign-in", "Connecting…", "Paused", "Idle", "Disabled", "Stopping…", "Invalid", "Invalid",
    ]);
    equal(await page.locator(id("config-file")).innerText(), "/home/ada/.config/patchbay/settings.toml");
    match(await row(page, "files").innerText(), /The program ended with status 1/);
    match(await row(page, "database").locator(id("server-line")).innerText(), /postgresql:\/\/ada:••••••••@localhost/);
    match(await page.locator(id("config-warnings")).innerText(), /Line 12/);
  });
});

test("an entry that cannot be used says why and where, and offers nothing that would not work", async () => {
  await inWindow("all", async (page) => {
    const entry = row(page, "both-ways");
    match(await entry.innerText(), /It has both a command and a url\.\s+\/home\/ada\/\.config\/patchbay\/settings\.toml, line 41, column 1\s+Keep one of the two\./);
    equal(await entry.getByRole("button").count() + (await entry.getByRole("switch").count()), 0);
  });
});

test("a file that does not parse is named with line and column, and the last good servers stay", async () => {
  await inWindow("broken", async (page) => {
    match(await page.locator(id("config-broken")).innerText(), /A string is not closed\.\s+\/home\/.*settings\.toml, line 7, column 18\s+The last good settings stay in force/);
    equal((await names(page)).length, 10);
  });
});

test("the switch shows the wish at once and the truth as soon as it is known", async () => {
  await inWindow("all", async (page) => {
    const files = row(page, "files");
    const toggle = files.getByRole("switch", { name: "files is on" });
    await page.evaluate(() => window.fake.hold("set_mcp_server_enabled"));
    await toggle.click();
    equal(await toggle.getAttribute("aria-checked"), "false");
    equal(await files.getAttribute("data-state"), "failed");
    await page.evaluate(() => window.fake.release("set_mcp_server_enabled"));
    await page.locator(`${id("server-row")}[data-server="files"][data-state="disabled"]`).waitFor();
    equal(await toggle.getAttribute("aria-checked"), "false");
    await toggle.focus();
    await page.keyboard.press("Space");
    await page.locator(`${id("server-row")}[data-server="files"][data-state="idle"]`).waitFor();
    deepEqual(await calls(page, "set_mcp_server_enabled"), [{ name: "files", enabled: false }, { name: "files", enabled: true }]);
  });
});

test("a switch that fails goes back and says why", async () => {
  await inWindow("all", async (page) => {
    await page.evaluate(() => {
      window.fake.failures.set_mcp_server_enabled = { code: "IO", message: "The disk is full.", hint: "Make room.", server: null, field: null, place: null };
    });
    const toggle = row(page, "browser").getByRole("switch");
    await toggle.click();
    match(await page.locator(id("servers-error")).innerText(), /“browser” could not be switched off\s+The disk is full\.\s+Make room\./);
    equal(await toggle.getAttribute("aria-checked"), "true");
  });
});

test("a change made elsewhere shows by itself", async () => {
  await inWindow("all", async (page) => {
    await row(page, "browser").waitFor();
    await page.evaluate(() => window.fake.edit((owner) => owner.handle("set_mcp_server_enabled", { name: "browser", enabled: false })));
    await page.locator(`${id("server-row")}[data-server="browser"][data-state="disabled"]`).waitFor();
    equal(await row(page, "browser").getByRole("switch").getAttribute("aria-checked"), "false");
  });
});

test("Ctrl+F searches names and lines, and an empty result can be cleared", async () => {
  await inWindow("all", async (page) => {
    await row(page, "files").waitFor();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("PLAYWRIGHT");
    deepEqual(await names(page), ["browser"]);
    match(await page.getByRole("status").first().innerText(), /1 of 10/);
    await page.keyboard.type(" no such");
    await page.locator(id("no-match")).getByRole("button").click();
    equal((await names(page)).length, 10);
  });
});

test("removing asks first, names the server, and keeps it by default", async () => {
  await inWindow("all", async (page) => {
    const remove = row(page, "files").locator(id("server-remove"));
    await remove.click();
    const dialog = page.getByRole("dialog");
    match(await dialog.innerText(), /files stops in every workspace.*sign-in to it is kept/s);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    equal(await remove.evaluate((e) => e === document.activeElement), true);
    deepEqual(await calls(page, "remove_mcp_server"), []);
    await remove.click();
    await page.locator(id("confirm-action")).click();
    await row(page, "files").waitFor({ state: "detached" });
    deepEqual(await calls(page, "remove_mcp_server"), [{ base: "r1", name: "files" }]);
    equal(await page.evaluate(() => document.activeElement.tagName), "H1");
  });
});

test("the first run explains what a server is and adds the sample", async () => {
  await inWindow("empty", async (page) => {
    match(await page.locator(id("first-run")).innerText(), /An MCP server gives coding agents tools/);
    await page.locator(id("try-sample")).click();
    await row(page, "sample").waitFor();
    equal(await page.locator(id("first-run")).count(), 0);
  });
});

test("before the owner has answered, rows of their true height stand in", async () => {
  await inWindow("all", async (page) => {
    const heights = async (rows) => Promise.all([0, 1].map(async (at) => (await rows.nth(at).boundingBox()).height));
    const before = await heights(page.locator(`${id("servers-waiting")} li`));
    await page.evaluate(() => {
      const { servers } = window.fake.owner.state.config;
      window.fake.owner.state.config.servers = servers.filter((s) => ["everything", "browser"].includes(s.name));
      window.fake.release("get_snapshot");
    });
    await row(page, "browser").waitFor();
    deepEqual(await heights(page.locator(id("server-row"))), before);
  }, { prepare: () => { let held; Object.defineProperty(window, "fake", { get: () => held, set: (fake) => { held = fake; fake.hold("get_snapshot"); } }); } });
});
