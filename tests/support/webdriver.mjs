// A client for WebKitWebDriver in plain fetch. Text is read by script: the driver's own "element text" is wrong
// for most elements of this engine.

import { createServer } from "node:net";
import { until } from "./wait.mjs";

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const KEYS = { Control: "\uE009", Backspace: "\uE003", Enter: "\uE007", Escape: "\uE00C", Tab: "\uE004" };

/** A port that was free a moment ago: the driver can't be asked to choose one. */
const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** A web view under control of a test. */
export class View {
  #driver;
  #base;
  #session;

  /**
   * Starts the driver on the desktop, and through it the program, with the environment of the desktop and `env`.
   * The program's web view may be in a child of it.
   */
  static async open(desktop, binary, args = [], env = {}) {
    const view = new View();
    const port = await freePort();
    view.#base = `http://127.0.0.1:${port}`;
    view.#driver = desktop.spawn("WebKitWebDriver", [`--port=${port}`], {
      env: { TAURI_WEBVIEW_AUTOMATION: "true", ...env },
    });
    await until("the driver", () => fetch(`${view.#base}/status`));
    const session = await view.#call("POST", "/session", {
      capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary, args } } },
    });
    view.#session = `/session/${session.sessionId}`;
    return view;
  }

  async #call(method, path, body) {
    const response = await fetch(this.#base + path, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  #ask(method, path, body) {
    return this.#call(method, this.#session + path, body);
  }

  /** Opens an address. */
  go(url) {
    return this.#ask("POST", "/url", { url });
  }

  /** What a script gives; `arguments` holds `args`. */
  script(source, ...args) {
    return this.#ask("POST", "/execute/sync", { script: source, args });
  }

  async #element(css) {
    return until(`an element ${css}`, async () => {
      const found = await this.#ask("POST", "/element", { using: "css selector", value: css });
      return found[ELEMENT];
    });
  }

  /** The visible text of the first element, once it is there. */
  async text(css) {
    await this.#element(css);
    return this.script("return document.querySelector(arguments[0])?.innerText.trim() ?? ''", css);
  }

  /** The visible texts of all such elements. */
  texts(css) {
    return this.script("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.trim())", css);
  }

  /** Whether there is such an element now. */
  has(css) {
    return this.script("return document.querySelector(arguments[0]) !== null", css);
  }

  /** A property of the first element, once it is there. */
  async property(css, name) {
    await this.#element(css);
    return this.script("return document.querySelector(arguments[0])?.[arguments[1]] ?? null", css, name);
  }

  /** Waits until the text of the first such element holds `holds`. */
  untilText(css, holds) {
    return until(`the text of ${css}`, async () => {
      const text = await this.script("return document.querySelector(arguments[0])?.innerText ?? ''", css);
      return holds(text) ? text : undefined;
    });
  }

  /** Clicks the element, once it is there and can be clicked. */
  async click(css) {
    await until(`a click on ${css}`, async () => {
      const id = await this.#element(css);
      await this.#ask("POST", `/element/${id}/click`, {});
      return true;
    });
  }

  /** Replaces the text of a field by typing. */
  async fill(css, text) {
    const id = await this.#element(css);
    const type = (keys) => this.#ask("POST", `/element/${id}/value`, { text: keys });
    await this.click(css);
    await type(`${KEYS.Control}a`);
    await type(KEYS.Backspace);
    if (text !== "") await type(text.replaceAll("\n", KEYS.Enter));
    await until(`${css} to hold what was typed`, async () => {
      const value = await this.property(css, "value");
      if (value !== text) throw new Error(`it holds ${JSON.stringify(value)}`);
      return true;
    });
  }

  /** The page as a PNG. */
  async screenshot() {
    return Buffer.from(await this.#ask("GET", "/screenshot"), "base64");
  }

  /** Ends the session and the driver; the program too, unless it has ended. */
  async close() {
    if (this.#session) await this.#ask("DELETE", "").catch(() => {});
    await this.#driver.stop();
  }
}
