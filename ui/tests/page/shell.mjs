// The frame of the window: navigation, appearance, and an owner that is not there.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { calls, id, inWindow, row } from "../support/window.mjs";

const scheme = (page) => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);

test("appearance follows the system until it is chosen, and the choice is kept", async () => {
  await inWindow("empty", async (page) => {
    await page.locator(id("first-run")).waitFor();
    equal(await scheme(page), "dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.waitForFunction(() => document.documentElement.dataset.mantineColorScheme === "light");
    await page.locator(id("theme")).getByText("Dark", { exact: true }).click();
    equal(await scheme(page), "dark");
    await page.reload();
    await page.locator(id("first-run")).waitFor();
    equal(await scheme(page), "dark");
    equal(await page.evaluate(() => localStorage.getItem("patchbay-color-scheme")), "dark");
  }, { dark: true });
});

test("About says who holds the servers and where the settings are, and Quit asks first", async () => {
  await inWindow("workspaces", async (page) => {
    await page.click(id("nav-about"));
    match(await page.locator(id("about-page")).innerText(), /0\.1\.0.*desktop app, process 4242.*\/home\/ada\/\.config\/patchbay\s/s);
    await page.click(id("quit"));
    match(await page.getByRole("dialog").innerText(), /One connected server will be stopped/);
    await page.click(id("confirm-cancel"));
    deepEqual(await calls(page, "quit"), []);
    await page.click(id("quit"));
    await page.click(id("confirm-action"));
    await page.getByRole("dialog").waitFor({ state: "detached" });
    equal((await calls(page, "quit")).length, 1);
  });
});

test("asked for the settings from outside, the window shows them", async () => {
  await inWindow("all", async (page) => {
    await page.click(id("nav-about"));
    await page.evaluate(() => window.fake.emit("show-settings", {}));
    await row(page, "files").waitFor();
  });
});

test("when the owner goes, the window says so", async () => {
  await inWindow("all", async (page) => {
    await row(page, "files").waitFor();
    await page.evaluate(() => window.fake.lose());
    match(await page.locator(id("owner-gone")).innerText(), /Patchbay has ended/);
  });
});

test("an owner that does not answer is named, and asked again on request", async () => {
  await inWindow("all", async (page) => {
    match(await page.locator(id("no-owner")).innerText(), /The socket is closed\.\s+Start Patchbay/);
    await page.evaluate(() => delete window.fake.failures.get_snapshot);
    await page.getByRole("button", { name: "Try again" }).click();
    await row(page, "files").waitFor();
  }, {
    prepare: () => {
      let fake;
      Object.defineProperty(window, "fake", {
        get: () => fake,
        set: (value) => {
          fake = value;
          fake.failures.get_snapshot = { code: "UNAVAILABLE", message: "The socket is closed.", hint: "Start Patchbay.", server: null, field: null, place: null };
        },
      });
    },
  });
});

test("an answer that was overtaken by a newer event does not bring the old state back", async () => {
  await inWindow("all", async (page) => {
    await row(page, "files").waitFor();
    await page.evaluate(async () => {
      const old = structuredClone(window.fake.owner.snapshot());
      await window.fake.edit((owner) => owner.handle("remove_mcp_server", { base: null, name: "files" }));
      await window.fake.emit("snapshot-changed", { snapshot: old });
    });
    await row(page, "files").waitFor({ state: "detached" });
    equal(await row(page, "browser").count(), 1);
  });
});
