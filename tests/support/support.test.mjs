// The harness itself: what it starts it also ends, and what it drives is real.

import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Headless } from "./headless.mjs";
import { alive } from "./processes.mjs";
import { looksDrawn } from "./picture.mjs";
import { until } from "./wait.mjs";
import { View } from "./webdriver.mjs";
import { closeWindows, windows } from "./x11.mjs";

test("a desktop ends what was started on it, tells of what was left behind, and removes its folders", async () => {
  const desktop = await Headless.start({ display: false });
  const tracked = desktop.spawn("sleep", ["1000"]);
  const { stdout } = await desktop.run("sh", ["-c", "setsid sleep 2000 >/dev/null 2>&1 & echo $!"]);
  const orphan = Number(stdout);
  await until("the orphan", () => desktop.processes().find(({ command }) => command === "sleep 2000"));
  const left = await desktop.stop({ grace: 200 });
  assert.deepEqual(left.map(({ command }) => command), ["sleep 2000"]);
  assert.equal(left[0].pid, orphan);
  assert.equal(alive(orphan), false);
  assert.equal(alive(tracked.pid), false);
  assert.equal(existsSync(desktop.dir), false);
});

test("a page is read, typed into and clicked in the real web engine, and its picture holds what was drawn", async () => {
  const desktop = await Headless.start();
  try {
    const page = join(desktop.home, "page.html");
    writeFileSync(
      page,
      `<meta charset="utf-8"><body style="background:#fff"><h1>Grüß</h1><input value="old"><textarea></textarea>
       <button onclick="this.innerText = document.querySelector('input').value">press</button>`,
    );
    const libraries = readdirSync("/usr/lib").map((name) => join("/usr/lib", name, "webkit2gtk-4.1", "MiniBrowser"));
    const view = await View.open(desktop, libraries.find(existsSync), ["--automation"]);
    await view.go("about:blank");
    assert.equal(looksDrawn(await view.screenshot()), false);
    await view.go(`file://${page}`);
    assert.equal(await view.text("h1"), "Grüß");
    await view.fill("input", "new ✓");
    await view.fill("textarea", "one\ntwo words");
    await view.click("button");
    assert.equal(await view.text("button"), "new ✓");
    assert.equal(looksDrawn(await view.screenshot()), true);
    assert.equal((await windows(desktop.env.DISPLAY)).length, 1);
    await closeWindows(desktop.env.DISPLAY);
    await until("the closed window to go", async () => (await windows(desktop.env.DISPLAY)).length === 0);
    await view.close();
  } finally {
    assert.deepEqual(await desktop.stop(), []);
  }
});
