// The workspaces' page: states, tools, log, Restart.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { calls, id, inWindow } from "../support/window.mjs";

const KEY = "a1b2c3d4e5f60718";
const card = (page, name) => page.locator(`${id("workspace-server")}[data-server="${name}"]`);
const open = async (page) => {
  await page.click(id("nav-workspaces"));
  await page.locator(id("workspace-server")).first().waitFor();
};

test("every server of a workspace stands there with its state, its cause and what to do", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    const states = await page.locator(id("workspace-server")).evaluateAll((cards) => cards.map((c) => [c.dataset.server, c.dataset.state]));
    deepEqual(states, [
      ["everything", "connected"], ["files", "failed"], ["tracker", "needs-sign-in"], ["database", "paused"], ["browser", "idle"], ["old-one", "disabled"], ["build-tools", "pending-trust"],
    ]);
    const everything = await card(page, "everything").innerText();
    match(everything, /since\s+15 Jan, 14:03:20\s+tools\s+3\s+process\s+51234\s+sandbox\s+bubblewrap/);
    match(await card(page, "files").innerText(), /status 1.*Look at its log/s);
    match(await card(page, "database").innerText(), /until\s+15 Jan, 14:05:20.*sandbox\s+none: switched off/s);
    match(await page.locator(id("workspace-problems")).innerText(), /name of a global one/);
    match(await card(page, "build-tools").innerText(), /project/);
  });
});

test("Show tools lists them, a server's words as text only", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    await page.click(id("show-tools"));
    await page.locator(`${id("tool")}[data-tool="echo"]`).waitFor();
    deepEqual(await calls(page, "list_tools"), [{ workspace: KEY, agent: { name: null, sub_agent: false } }]);
    await page.locator(`${id("workspace-server")}[data-server="browser"][data-state="connected"]`).waitFor();
    match(await page.locator(`${id("tool")}[data-tool="every__add"]`).innerText(), /The server calls it add\.\s+<b>Adds<\/b> two numbers\. <img src=x/);
    equal(await page.locator("b, img, script:not([type=module])").count(), 0);
    match(await page.locator(id("tool-hidden")).innerText(), /Read\s+Left out: It has the name/);
    match(await page.locator(id("tools-withheld")).innerText(), /It does not run/);
    const long = page.locator(`${id("tool")}[data-tool="long"]`);
    equal((await long.innerText()).includes("paragraphs"), false);
    await long.getByRole("button").click();
    match(await long.innerText(), /paragraphs, with U\+202Etricks\s*U\+200B/);
  });
});

test("the log shows the last lines and follows the server", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    await card(page, "everything").locator(id("log-toggle")).click();
    match(await page.locator(id("server-log")).innerText(), /Starting on stdio\s+ready U\+001B\[32mgreen.*<script>alert\(1\)<\/script>/s);
    await page.evaluate(() => window.fake.edit((owner) => {
      owner.scene.logs.everything.push("one more line");
      owner.state.workspaces[0].servers[0].logTail = ["one more line"];
    }));
    await page.locator(id("server-log")).getByText("one more line").waitFor();
  });
});

test("Restart names the server by scope and name, and rests where nothing can be restarted", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    await card(page, "files").locator(id("server-restart")).click();
    await page.locator(`${id("workspace-server")}[data-server="files"][data-state="idle"]`).waitFor();
    deepEqual(await calls(page, "restart_mcp_server"), [{ workspace: KEY, server: { scope: "global", name: "files" } }]);
    for (const name of ["old-one", "build-tools"]) equal(await card(page, name).locator(id("server-restart")).isDisabled(), true, name);
  });
});

test("a listing that fails says so on the page", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    await page.evaluate(() => {
      window.fake.failures.list_tools = { code: "TIMEOUT", message: "No server answered in time.", hint: null, server: null, field: null, place: null };
    });
    await page.click(id("show-tools"));
    match(await page.locator(id("workspace-error")).innerText(), /could not be listed\s+No server answered in time/);
  });
});

test("a folder is opened by its path, the workspace without one by a button, and a wrong path says why", async () => {
  await inWindow("empty", async (page) => {
    await page.click(id("nav-workspaces"));
    match(await page.locator(id("open-workspace")).innerText(), /A workspace is a project folder/);
    await page.fill(id("workspace-path"), "/missing");
    await page.keyboard.press("Enter");
    match(await page.locator(id("workspace-open-error")).innerText(), /no folder \/missing\.\s+Check the path/);
    await page.fill(id("workspace-path"), "/home/ada/work");
    await page.click(id("workspace-open"));
    match(await page.locator(id("workspace-name")).innerText(), /^\/home\/ada\/work$/);
    await page.click(id("workspace-open-toggle"));
    await page.click(id("workspace-open-none"));
    match(await page.locator(id("workspace-name")).innerText(), /Without a folder/);
    deepEqual([...new Set((await calls(page, "open_workspace")).map((call) => call.path))], ["/missing", "/home/ada/work", null]);
    equal(await page.locator(id("workspace-tab")).count(), 2);
  });
});

test("a workspace that is looked at counts as used by the window", async () => {
  await inWindow("workspaces", async (page) => {
    await open(page);
    deepEqual(await calls(page, "open_workspace"), [{ path: "/home/ada/work/compiler" }]);
    await page.locator(id("workspace-tab")).nth(1).click();
    deepEqual(await calls(page, "open_workspace"), [{ path: "/home/ada/work/compiler" }, { path: null }]);
  });
});
