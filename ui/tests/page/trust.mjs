// The trust question: everything is shown, and the default is no.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { calls, id, inWindow } from "../support/window.mjs";

const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const PATH = "/home/ada/work/compiler";

test("the question shows every argument, value and rule, and cuts nothing", async () => {
  await inWindow("trust", async (page) => {
    const dialog = page.locator(id("trust-dialog"));
    const text = await dialog.innerText();
    for (const part of [
      PATH, "changed since you trusted it", "--flag=value end-of-it", "NODE_OPTIONS=--require ./hook.js", "TOKEN=${GITHUB_TOKEN}", "Your GITHUB_TOKEN would be given to bash, by env.TOKEN.",
      "NODE_OPTIONS makes programs load other code.", "outside the sandbox", "right-to-left override (U+202E)", "https://mcp.example.net/v1?project=compiler", "X-Project: compiler",
      "mcp(build-tools:*)", "/home/ada/.cargo/registry", "/home/ada/work/compiler/.mcp.json", DIGEST, "/home/ada/work/compiler/tools",
    ]) equal(text.includes(part), true, part);
    const command = await page.locator(`${id("trust-command")} >> nth=0`).locator("li").allInnerTexts();
    deepEqual(command.map((line) => line.replaceAll(/\s+/g, " ")).map((line) => line.slice(0, 24)), ["program bash", "1 -c", "2 curl -fsSL https://exa", "3 empty", "4 plainU+202Etxt.exe", "5 two\\nlines"]);
    const cut = await dialog.evaluate((root) => [...root.querySelectorAll("*")].filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline").map((e) => e.className));
    deepEqual(cut, []);
  });
});

test("Enter on a question that pops up denies, and Allow does not take a click that was under way", async () => {
  await inWindow("workspaces", async (page) => {
    await page.click(id("nav-workspaces"));
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(60_000);
    await page.evaluate(async () => {
      const { request } = window.fake.owner.scene.trust["/home/ada/work/compiler"];
      await window.fake.change({ questions: [{ id: 7, workspace: "a1b2c3d4e5f60718", sinceMs: 0, kind: { kind: "trust", request } }] });
    });
    await page.locator(id("trust-dialog")).waitFor();
    await page.clock.runFor(200);
    equal(await page.locator(id("trust-deny")).evaluate((e) => e === document.activeElement), true);
    equal(await page.locator(id("trust-allow")).isDisabled(), true);
    await page.clock.runFor(600);
    equal(await page.locator(id("trust-allow")).isDisabled(), false);
    await page.keyboard.press("Enter");
    await page.locator(id("trust-dialog")).waitFor({ state: "detached" });
    deepEqual(await calls(page, "answer_question"), [{ question: 7, answer: "deny" }]);
  }, { own: true });
});

test("Allow allows", async () => {
  await inWindow("trust", async (page) => {
    await page.click(id("trust-allow"));
    await page.locator(id("trust-dialog")).waitFor({ state: "detached" });
    deepEqual(await calls(page, "answer_question"), [{ question: 7, answer: "allow" }]);
  });
});

test("Escape answers nothing and leaves the question in reach", async () => {
  await inWindow("trust", async (page) => {
    await page.locator(id("trust-dialog")).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(id("trust-dialog")).waitFor({ state: "detached" });
    deepEqual(await calls(page, "answer_question"), []);
    await page.click(id("questions-show"));
    await page.locator(id("trust-dialog")).waitFor();
    await page.locator(id("workspaces-page")).waitFor();
  });
});

test("a question that was answered elsewhere goes away by itself", async () => {
  await inWindow("trust", async (page) => {
    await page.locator(id("trust-dialog")).waitFor();
    await page.evaluate(() => window.fake.change({ questions: [] }));
    await page.locator(id("trust-dialog")).waitFor({ state: "detached" });
    equal(await page.locator(id("questions-waiting")).count(), 0);
  });
});

test("an answer that fails stays on the screen with its reason", async () => {
  await inWindow("trust", async (page) => {
    await page.evaluate(() => {
      window.fake.failures.answer_question = { code: "CONFLICT", message: "The files changed meanwhile.", hint: null, server: null, field: null, place: null };
    });
    await page.click(id("trust-allow"));
    await page.getByText("The files changed meanwhile.").waitFor();
    equal(await page.locator(id("trust-dialog")).count(), 1);
  });
});

test("a project is trusted by exactly the content that was shown, and trust can be taken back", async () => {
  await inWindow("workspaces", async (page) => {
    await page.click(id("nav-workspaces"));
    await page.click(id("trust-review"));
    await page.click(id("trust-allow"));
    await page.locator(id("project-trusted")).waitFor();
    deepEqual(await calls(page, "trust"), [{ path: PATH, digest: DIGEST }]);
    await page.click(id("trust-revoke"));
    await page.locator(id("project-untrusted")).waitFor();
    deepEqual(await calls(page, "revoke_trust"), [{ path: PATH }]);
    await page.click(id("trust-review"));
    await page.click(id("trust-deny"));
    await page.locator(id("trust-dialog")).waitFor({ state: "detached" });
    equal((await calls(page, "trust")).length, 1);
  });
});
