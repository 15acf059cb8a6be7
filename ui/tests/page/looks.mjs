// Both themes at the smallest and the usual size: readable, nothing cut, every control named. Pictures are kept.

import { deepEqual, equal } from "node:assert/strict";
import { mkdir, stat } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { id, inWindow, row } from "../support/window.mjs";
import { poorContrast, sticksOut, unnamed } from "../support/inspect.mjs";

const output = fileURLToPath(new URL("../../../tests/output/ui/", import.meta.url));
await mkdir(output, { recursive: true });

const PAGES = {
  "first-run": ["empty", (page) => page.locator(id("first-run")).waitFor()],
  servers: ["all", (page) => row(page, "both-ways").waitFor()],
  broken: ["broken", (page) => page.locator(id("config-broken")).waitFor()],
  form: [
    "all",
    async (page) => {
      await row(page, "files").locator(id("server-edit")).click();
      await page.fill(id("field-name"), "my server");
      await page.fill(id("field-args"), "–yes");
      await page.click(id("field-sandbox"));
      await page.click(id("field-auto_approve"));
      await page.click(id("form-save"));
      await page.locator(id("form-problems")).waitFor();
    },
  ],
  remove: [
    "all",
    async (page) => {
      await row(page, "files").locator(id("server-remove")).click();
      await page.locator(id("confirm-dialog")).waitFor();
    },
  ],
  workspace: [
    "workspaces",
    async (page) => {
      await page.click(id("nav-workspaces"));
      await page.click(id("show-tools"));
      await page.locator(id("tool")).first().waitFor();
      await page.locator(id("log-toggle")).first().click();
      await page.locator(id("server-log")).getByText("Starting").waitFor();
    },
  ],
  trust: ["trust", (page) => page.waitForFunction((button) => document.querySelector(button)?.disabled === false, id("trust-allow"))],
  about: ["all", (page) => page.click(id("nav-about"))],
};

for (const [name, [scene, show]] of Object.entries(PAGES)) {
  test(`${name} is readable and whole in both themes`, async () => {
    await inWindow(scene, async (page) => {
      await show(page);
      for (const theme of ["dark", "light"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForFunction((wanted) => document.documentElement.dataset.mantineColorScheme === wanted, theme);
        for (const [width, height] of [[900, 640], [1200, 800]]) {
          await page.setViewportSize({ width, height });
          deepEqual(await page.evaluate(sticksOut), [], `${theme} at ${width}`);
        }
        deepEqual(await page.evaluate(poorContrast), [], theme);
        deepEqual(await page.evaluate(unnamed), []);
        const fonts = await page.evaluate(() => document.fonts.ready.then(() => [...document.fonts].filter((f) => f.status === "loaded").map((f) => f.family)));
        equal(fonts.some((family) => family.includes("Inter")), true);
        const file = `${output}${name}-${theme}.png`;
        await page.screenshot({ path: file });
        equal((await stat(file)).size > 8_000, true, "the picture is blank");
      }
    });
  });
}
