// A client that this project didn't write (PyPI's `mcp`) talks through `patchbay connect` to a real server.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { everything, everythingOn } from "../support/everything.mjs";
import { Headless, program, root } from "../support/headless.mjs";
import { until } from "../support/wait.mjs";
import { venvPython } from "../../scripts/setup.mjs";

const patchbay = program("patchbay");
const connect = [patchbay, "connect", "--agent", "tests"];
const direct = [everything.command, ...everything.args];

describe("an agent's client", () => {
  let desktop;

  before(async () => {
    desktop = await Headless.start({ display: false });
    const [command, ...args] = direct;
    mkdirSync(desktop.patchbayHome, { mode: 0o700 });
    writeFileSync(
      join(desktop.patchbayHome, "settings.toml"),
      `[[mcp.servers]]\nname = "everything"\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nauto_approve = true\n`,
    );
  });

  after(async () => {
    assert.deepEqual(await desktop.stop(), [], "nothing is left behind");
  });

  /** What the client sees of the server behind this command. */
  async function seen(mode, command, tool, args) {
    const script = join(root, "tests", "python", "client.py");
    const done = await desktop.run(venvPython, [script, mode, tool, JSON.stringify(args), ...command]);
    assert.equal(done.code, 0, done.stderr);
    return JSON.parse(done.stdout);
  }

  async function sameAsDirect(mode) {
    const message = "Grüß ✓ \u0000\ud83d\ude00";
    const through = await seen(mode, connect, "echo", { message });
    const straight = await seen(mode, direct, "echo", { message });
    assert.deepEqual(through.result, straight.result);
    const byName = new Map(through.tools.map((tool) => [tool.name, tool]));
    for (const tool of straight.tools) assert.deepEqual(byName.get(tool.name), tool, tool.name);
  }

  for (const mode of ["legacy", "auto"]) {
    test(`sees the tools and the result of a direct connection, without an owner (${mode})`, async () => {
      await sameAsDirect(mode);
      await until("the server to end with the connection", () => everythingOn(desktop).length === 0);
    });
  }

  describe("beside an owner", () => {
    let owner;

    before(async () => {
      owner = desktop.spawn(patchbay, ["serve"]);
      await until("the owner", async () => (await desktop.run(patchbay, ["status"])).stdout.includes(String(owner.pid)));
    });

    for (const mode of ["legacy", "auto"]) {
      test(`sees the same (${mode})`, () => sameAsDirect(mode));
    }

    test("the owner ends its servers when it is told to end", async () => {
      assert.notEqual(everythingOn(desktop).length, 0);
      assert.equal((await owner.stop(20_000)).code, 0, owner.stderr);
      assert.deepEqual(everythingOn(desktop), []);
    });
  });
});
