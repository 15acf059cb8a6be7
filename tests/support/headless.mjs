// A desktop of a test's own: display, session bus, home and XDG folders, all private and gone afterwards.
// Every process is tracked and ended by its pid; what the programs under test leave behind is found by a mark.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program, root } from "../../scripts/support/run.mjs";
import { marked, MARK } from "./processes.mjs";
import { until } from "./wait.mjs";

export { program, root };

/** Where tests keep what a person may want to look at. */
export const output = join(root, "tests", "output");

// No service files: nothing starts on this bus that the test didn't start.
const busConfig = (address) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

/** A process that the harness started. */
class Child {
  constructor(command, args, options) {
    this.name = command;
    this.stdout = "";
    this.stderr = "";
    this.process = spawn(command, args, options);
    this.process.stdout?.setEncoding("utf8").on("data", (text) => (this.stdout += text));
    this.process.stderr?.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.process.on("error", (error) => resolve({ code: 127, signal: null, error }));
      this.process.on("close", (code, signal) => resolve({ code, signal }));
    });
    this.ended.then((end) => (this.end = end));
  }

  get pid() {
    return this.process.pid;
  }

  /** Ends it: SIGTERM, and SIGKILL after `grace` ms. */
  async stop(grace = 5_000) {
    if (this.end) return this.end;
    this.process.kill("SIGTERM");
    const late = setTimeout(() => this.process.kill("SIGKILL"), grace);
    const end = await this.ended;
    clearTimeout(late);
    return end;
  }
}

/** The desktop. Start it with `Headless.start()`, end it with `stop()`. */
export class Headless {
  #services = [];
  #children = [];
  #emergency = () => {
    this.#killAll();
    rmSync(this.dir, { recursive: true, force: true });
  };

  constructor() {
    this.id = randomUUID();
    // Short, because sockets are made below it.
    this.dir = mkdtempSync(join(tmpdir(), "pb-"));
    const folder = (name, mode = 0o755) => {
      const path = join(this.dir, name);
      mkdirSync(path, { recursive: true, mode });
      return path;
    };
    this.home = folder("home");
    /** Patchbay's own folder. */
    this.patchbayHome = join(this.dir, "patchbay");
    this.env = {
      PATH: process.env.PATH,
      LANG: "C.UTF-8",
      SHELL: "/bin/sh",
      HOME: this.home,
      TMPDIR: folder("tmp"),
      XDG_RUNTIME_DIR: folder("run", 0o700),
      XDG_CONFIG_HOME: folder("home/.config"),
      XDG_DATA_HOME: folder("home/.local/share"),
      XDG_CACHE_HOME: folder("home/.cache"),
      PATCHBAY_HOME: this.patchbayHome,
      NO_AT_BRIDGE: "1",
      GDK_BACKEND: "x11",
      [MARK]: this.id,
    };
    process.on("exit", this.#emergency);
  }

  /** Starts a desktop; `display: false` leaves out the screen. */
  static async start({ display = true } = {}) {
    const desktop = new Headless();
    try {
      await desktop.#bus();
      if (display) await desktop.#screen();
      return desktop;
    } catch (error) {
      await desktop.stop();
      throw error;
    }
  }

  #service(command, args, ready) {
    const { [MARK]: _, ...env } = this.env;
    const service = new Child(command, args, { env, cwd: this.dir, stdio: ["ignore", "ignore", "pipe", "pipe"] });
    this.#services.push(service);
    let told = "";
    service.process.stdio[3].setEncoding("utf8").on("data", (text) => (told += text));
    return until(`${command} to be ready`, () => {
      if (service.end) throw new Error(`it ended: ${service.stderr || service.end.error?.message}`);
      return ready(told);
    });
  }

  async #bus() {
    const address = `unix:path=${join(this.env.XDG_RUNTIME_DIR, "bus")}`;
    const config = join(this.dir, "bus.conf");
    writeFileSync(config, busConfig(address));
    await this.#service(
      "dbus-daemon",
      [`--config-file=${config}`, "--nofork", "--nopidfile", "--nosyslog", "--print-address=3"],
      (told) => told.includes("\n"),
    );
    this.env.DBUS_SESSION_BUS_ADDRESS = address;
  }

  async #screen() {
    const number = await this.#service(
      "Xvfb",
      ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"],
      (told) => /^(\d+)\n/.exec(told)?.[1],
    );
    this.env.DISPLAY = `:${number}`;
  }

  /** Starts a program on this desktop; `stop()` ends it. */
  spawn(command, args = [], { env = {}, cwd = this.home, stdin = "ignore" } = {}) {
    const child = new Child(command, args, { env: { ...this.env, ...env }, cwd, stdio: [stdin, "pipe", "pipe"] });
    this.#children.push(child);
    return child;
  }

  /** Runs a program to its end; resolves to `{ code, signal, stdout, stderr }`. */
  async run(command, args = [], options = {}) {
    const child = this.spawn(command, args, options);
    const end = await child.ended;
    if (end.error) throw end.error;
    return { ...end, stdout: child.stdout, stderr: child.stderr };
  }

  /** Ends the screen (`Xvfb`) or the bus (`dbus-daemon`) at once, as a crash of it would. */
  async lose(name) {
    const service = this.#services.find((service) => service.name === name);
    service.process.kill("SIGKILL");
    await service.ended;
  }

  /** Processes of the programs under test that live now. */
  processes() {
    return marked(this.id);
  }

  /** Ends everything and removes the folders. Resolves to what nobody tracked and what still lived after `grace` ms. */
  async stop({ grace = 5_000 } = {}) {
    await Promise.all(this.#children.map((child) => child.stop()));
    // The web engine's helpers notice their parent's end by themselves, a moment later.
    await until("the last processes to end", () => this.processes().length === 0, { within: grace }).catch(() => {});
    const left = this.processes();
    this.#killAll();
    await Promise.all(this.#services.map((service) => service.ended));
    await until("the killed processes to end", () => this.processes().length === 0);
    rmSync(this.dir, { recursive: true, force: true });
    process.off("exit", this.#emergency);
    return left;
  }

  #killAll() {
    for (const { pid } of this.processes()) process.kill(pid, "SIGKILL");
    for (const service of this.#services) if (!service.end) service.process.kill("SIGTERM");
  }
}
