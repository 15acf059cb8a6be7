// The desktop's tray for tests, as a real host on the session bus: reads and clicks the menu of the program under test.

import { createInterface } from "node:readline";
import { program } from "./headless.mjs";
import { patience, until } from "./wait.mjs";

/** A tray on a `Headless` desktop. Start it before the program, so that the program finds it. */
export class Tray {
  #child;
  #waiting = [];

  static async start(desktop) {
    const tray = new Tray();
    tray.#child = desktop.spawn(program("tray_host"), [], { stdin: "pipe" });
    createInterface({ input: tray.#child.process.stdout }).on("line", (line) => tray.#waiting.shift()?.(JSON.parse(line)));
    tray.#child.ended.then(() => {
      for (const answer of tray.#waiting.splice(0)) answer({ error: `the tray host ended: ${tray.#child.stderr}` });
    });
    await tray.#answer(() => {});
    return tray;
  }

  async #answer(ask) {
    const { ok, error } = await new Promise((resolve) => {
      this.#waiting.push(resolve);
      ask();
    });
    if (error) throw new Error(error);
    return ok;
  }

  #ask(cmd, fields = {}) {
    const line = JSON.stringify({ cmd, timeout_ms: patience, ...fields });
    return this.#answer(() => this.#child.process.stdin.write(`${line}\n`));
  }

  /** Waits for the program's item. */
  item() {
    return this.#ask("wait-item");
  }

  /** Waits until the program's item is gone. */
  gone() {
    return this.#ask("wait-gone");
  }

  /** The entries of the menu, each with `label`, `enabled`, `visible`, `checked` and `children`. */
  async menu() {
    return (await this.#ask("menu")).items;
  }

  /** The entry that these labels lead to; `undefined` when there is none. */
  async entry(...path) {
    let found = { children: await this.menu() };
    for (const label of path) found = found?.children.find((entry) => entry.label === label && entry.visible);
    return found;
  }

  /** Clicks the entry that these labels lead to. */
  click(...path) {
    return this.#ask("click", { path });
  }

  /** Waits until the entry is there and `holds` for it. */
  until(what, path, holds) {
    return until(`${what} in the tray`, async () => {
      const entry = await this.entry(...path);
      return entry && holds(entry) ? entry : undefined;
    });
  }

  /** Registrations and changes of the menu so far. */
  counts() {
    return this.#ask("counts");
  }

  /** The desktop's tray goes away (`false`) or comes back (`true`). */
  present(there) {
    return this.#ask(there ? "own" : "release");
  }
}
