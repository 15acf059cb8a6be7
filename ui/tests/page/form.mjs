// The form that adds or edits a server.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { calls, id, inWindow, row } from "../support/window.mjs";

const MASK = "••••••••";
const openEdit = async (page, name) => {
  await row(page, name).locator(id("server-edit")).click();
  await page.locator(id("field-name")).waitFor();
};
const openAdd = async (page) => {
  await page.locator(id("first-run")).waitFor();
  await page.keyboard.press("Control+n");
  await page.locator(id("field-name")).waitFor();
};
const problems = (page) => page.locator(id("form-problem")).allInnerTexts();
const saved = async (page) => (await calls(page, "save_mcp_server")).map((call) => call.draft);

test("a server is added by keyboard alone, and its row gets the keyboard", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.keyboard.type("everything");
    await page.locator(id("field-command")).focus();
    await page.keyboard.type("npx");
    await page.locator(id("field-args")).focus();
    await page.keyboard.type("-y\n@modelcontextprotocol/server-everything");
    await page.keyboard.press("Control+s");
    await row(page, "everything").waitFor();
    equal(await row(page, "everything").locator(id("server-edit")).evaluate((e) => e === document.activeElement), true);
    deepEqual(await calls(page, "save_mcp_server"), [
      {
        base: null,
        replaces: null,
        draft: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"], env: {}, sandbox: null, name: "everything", timeout_seconds: null, agents: [], auto_approve: false },
      },
    ]);
  });
});

test("problems stand at their fields and under the form, and nothing is saved until they are put right", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.fill(id("field-name"), "my server");
    await page.fill(id("field-env"), "TOKEN");
    await page.fill(id("field-timeout_seconds"), "42abc");
    await page.click(id("form-save"));
    deepEqual((await problems(page)).map((text) => text.split(":")[0]), ["Name", "Command", "Environment", "Time limit"]);
    match(await page.locator(id("problem-env")).innerText(), /Line 1: write NAME=value/);
    equal(await page.locator(id("field-command")).getAttribute("aria-invalid"), "true");
    deepEqual(await calls(page, "save_mcp_server"), []);
    await page.getByRole("button", { name: "Time limit" }).click();
    equal(await page.locator(id("field-timeout_seconds")).evaluate((e) => e === document.activeElement), true);
    await page.fill(id("field-timeout_seconds"), "42");
    await page.fill(id("field-env"), "TOKEN=x");
    await page.fill(id("field-name"), "mine");
    deepEqual((await problems(page)).length, 1);
    await page.fill(id("field-command"), "srv");
    await page.click(id("form-save"));
    await row(page, "mine").waitFor();
    equal((await saved(page))[0].timeout_seconds, 42);
  });
});

test("a problem that shows when a field is left does not take the click that left it", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.mouse.move(0, 0);
    const { x, y } = await page.locator(id("paste-toggle")).boundingBox();
    await page.mouse.move(x + 20, y + 8);
    await page.mouse.down();
    equal((await problems(page)).length, 0);
    await page.mouse.up();
    await page.locator(id("paste-line")).waitFor();
    equal((await problems(page)).length, 1);
  });
});

test("a field's problem shows when it is left, not while it is typed", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.keyboard.type("a b");
    equal((await problems(page)).length, 0);
    await page.keyboard.press("Tab");
    equal((await problems(page)).length, 1);
  });
});

test("opening a server and saving it unchanged sends back exactly what the file has", async () => {
  await inWindow("all", async (page) => {
    for (const name of ["files", "tracker", "database", "我的 сервер"]) {
      await openEdit(page, name);
      await page.click(id("form-save"));
      await row(page, name).waitFor();
    }
    const configs = await page.evaluate(() => window.fake.owner.scene.configs);
    const sent = await calls(page, "save_mcp_server");
    deepEqual(sent.map((call) => call.replaces), ["files", "tracker", "database", "我的 сервер"]);
    for (const { draft } of sent) {
      const file = configs.find((config) => config.name === draft.name);
      for (const [key, value] of Object.entries(file)) deepEqual(draft[key], value, `${draft.name}.${key}`);
    }
    deepEqual(sent[0].draft.args, ["--cfg", "a b.json", "--empty", "", "--json", '{"a": "x & y"}', "two\nlines"]);
    deepEqual(sent[0].draft.env, { API_TOKEN: MASK, MODE: "fast" });
  });
});

test("what the form cannot show as it is, it shows escaped and says so; what it does not show, it names", async () => {
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    match(await page.inputValue(id("field-args")), /\n\$''\n.*\n\$'two\\nlines'$/s);
    match(await page.locator(id("remarks-args")).innerText(), /Line 4: an empty argument.*\n?Line 7: the argument holds a line break/s);
    match(await page.locator(id("kept-keys")).innerText(), /cwd, tools, health_check/);
  });
});

test("a pasted command line is split as by a shell and fills the form", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.fill(id("field-name"), "srv");
    await page.click(id("paste-toggle"));
    await page.fill(id("paste-line"), `KEY=1 "/opt/My Tools/srv" --cfg "a b.json" --empty "" --json '{"a": "x & y"}' "open`);
    equal(await page.locator(id("paste-use")).count(), 0);
    await page.fill(id("paste-line"), `KEY=1 "/opt/My Tools/srv" --cfg "a b.json" --empty "" --json '{"a": "x & y"}'`);
    equal((await page.locator(`${id("paste-parts")} li`).allInnerTexts()).length, 8);
    await page.click(id("paste-use"));
    await page.click(id("form-save"));
    await row(page, "srv").waitFor();
    const [draft] = await saved(page);
    deepEqual([draft.command, draft.args, draft.env], ["/opt/My Tools/srv", ["--cfg", "a b.json", "--empty", "", "--json", '{"a": "x & y"}'], { KEY: "1" }]);
  });
});

test("a command line typed as the command can be split where it stands", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.fill(id("field-args"), "last");
    await page.fill(id("field-command"), "npx -y 'a b'");
    await page.click(id("split-command"));
    deepEqual([await page.inputValue(id("field-command")), await page.inputValue(id("field-args"))], ["npx", "-y\na b\nlast"]);
  });
});

test("characters put in by a text helper are pointed out, kept, and replaced only on request", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.fill(id("field-name"), "x");
    await page.fill(id("field-command"), "npx");
    await page.fill(id("field-args"), "ok\n–yes “q”");
    match(await page.locator(id("remarks-args")).innerText(), /Line 2, character 1: en dash \(U\+2013\).*Line 2, character 6: curly quote/s);
    await page.click(id("plain-args"));
    equal(await page.inputValue(id("field-args")), 'ok\n--yes "q"');
    await page.fill(id("field-env"), "NOTE=“kept”\u200b");
    await page.click(id("form-save"));
    await row(page, "x").waitFor();
    deepEqual((await saved(page))[0].env, { NOTE: "“kept”\u200b" });
  });
});

test("no field corrects, capitalises or spell-checks what is typed", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.click(id("paste-toggle"));
    await page.click(id("agents-named"));
    const seen = new Set();
    for (const kind of ["command", "url"]) {
      await page.click(id(`kind-${kind}`));
      for (const field of await page.locator("input:not([type=checkbox]):not([type=radio]), textarea").all()) {
        const [name, ...set] = await field.evaluate((e) => [e.dataset.testid, e.getAttribute("autocorrect"), e.getAttribute("autocapitalize"), e.getAttribute("autocomplete"), e.spellcheck]);
        deepEqual(set, ["off", "off", "off", false], name);
        seen.add(name);
      }
    }
    deepEqual([...seen].sort(), ["field-agents", "field-args", "field-command", "field-env", "field-headers", "field-name", "field-timeout_seconds", "field-url", "paste-line"]);
  });
});

test("a web address takes headers and says how to send a token", async () => {
  await inWindow("empty", async (page) => {
    await openAdd(page);
    await page.fill(id("field-name"), "tracker");
    await page.click(id("kind-url"));
    match(await page.locator(id("server-form")).innerText(), /patchbay secret set MY_TOKEN/);
    await page.fill(id("field-url"), "https://mcp.example.com/v1");
    await page.fill(id("field-headers"), "X-Team: blue");
    await page.click(id("field-auto_approve"));
    match(await page.locator(id("server-form")).innerText(), /no one is asked first/);
    await page.click(id("agents-all"));
    await page.click(id("form-save"));
    await row(page, "tracker").waitFor();
    deepEqual(await saved(page), [
      { url: "https://mcp.example.com/v1", headers: { "X-Team": "blue" }, name: "tracker", timeout_seconds: null, agents: ["*"], auto_approve: true },
    ]);
  });
});

test("a server changed elsewhere is not overwritten: the form offers to reload, with what was typed or without", async () => {
  const elsewhere = (page) =>
    page.evaluate(() => window.fake.edit((owner) => {
      owner.configs[1] = { ...owner.configs[1], timeout_seconds: 99 };
      owner.changed();
    }));
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await elsewhere(page);
    await page.fill(id("field-command"), "mine");
    await page.click(id("form-save"));
    match(await page.locator(id("form-conflict")).innerText(), /changed elsewhere/);
    await page.click(id("conflict-reload"));
    await page.locator(id("form-conflict")).waitFor({ state: "detached" });
    deepEqual([await page.inputValue(id("field-command")), await page.inputValue(id("field-timeout_seconds"))], ["mine", "99"]);
    await page.click(id("form-save"));
    await row(page, "files").waitFor();
    const last = (await calls(page, "save_mcp_server")).at(-1);
    deepEqual([last.draft.command, last.draft.timeout_seconds], ["mine", 99]);
  });
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await elsewhere(page);
    await page.fill(id("field-command"), "mine");
    await page.click(id("form-save"));
    await page.click(id("conflict-discard"));
    await page.waitForFunction((field) => document.querySelector(field).value === "/opt/My Tools/srv", id("field-command"));
  });
});

test("a change of another server is no conflict for this one", async () => {
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await page.evaluate(() => window.fake.edit((owner) => owner.handle("set_mcp_server_enabled", { name: "browser", enabled: false })));
    await page.fill(id("field-command"), "mine");
    await page.click(id("form-save"));
    await row(page, "files").waitFor();
    deepEqual((await calls(page, "save_mcp_server")).map((call) => call.base), ["r1", "r2"]);
  });
});

test("what the owner finds wrong with a field stands at that field", async () => {
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await page.evaluate(() => {
      window.fake.failures.save_mcp_server = { code: "INVALID", message: "No program has this path.", hint: "Check it.", server: "files", field: "command", place: null };
    });
    await page.click(id("form-save"));
    match(await page.locator(id("problem-command")).innerText(), /No program has this path\. Check it\./);
    equal((await problems(page)).length, 1);
    await page.fill(id("field-command"), "other");
    equal((await problems(page)).length, 0);
    await page.evaluate(() => {
      window.fake.failures.save_mcp_server.field = "env.MODE";
    });
    await page.click(id("form-save"));
    match(await page.locator(id("problem-env")).innerText(), /No program/);
  });
});

test("a failure that no field can mend is shown with the next step", async () => {
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await page.evaluate(() => {
      window.fake.failures.save_mcp_server = "the bridge is gone";
    });
    await page.click(id("form-save"));
    match(await page.locator(id("form-failure")).innerText(), /Nothing was saved\s+the bridge is gone/);
  });
});

test("leaving a changed form asks, and an unchanged one does not", async () => {
  await inWindow("all", async (page) => {
    await openEdit(page, "files");
    await page.keyboard.press("Escape");
    await row(page, "files").waitFor();
    await openEdit(page, "files");
    await page.fill(id("field-command"), "mine");
    await page.click(id("nav-about"));
    await page.click(id("confirm-cancel"));
    equal(await page.inputValue(id("field-command")), "mine");
    await page.click(id("nav-about"));
    await page.click(id("confirm-action"));
    await page.locator(id("about-page")).waitFor();
  });
});

test("a server that has gone meanwhile cannot be edited, and the form says so", async () => {
  await inWindow("all", async (page) => {
    await row(page, "files").waitFor();
    await page.evaluate(() => window.fake.owner.configs.splice(1, 1));
    await row(page, "files").locator(id("server-edit")).click();
    match(await page.locator(id("form-failure")).innerText(), /cannot be edited.*“files” any more/s);
    equal(await page.locator(id("form-save")).isDisabled(), true);
  });
});
