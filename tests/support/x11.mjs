// What a person does to a window through its frame, spoken to the X server directly: no window manager runs here.
// Numbers are those of the X protocol, version 11 (request codes, then offsets in the replies).

import { connect } from "node:net";

const [GET_ATTRIBUTES, QUERY_TREE, INTERN_ATOM, GET_PROPERTY, SEND_EVENT] = [3, 15, 16, 20, 25];
const CLIENT_MESSAGE = 33;
const VIEWABLE = 2;

/** A connection on which one request is answered at a time. */
class Display {
  #socket;
  #buffer = Buffer.alloc(0);
  #wake = () => {};
  #failure;

  static async open(name) {
    const display = new Display();
    display.#socket = connect(`/tmp/.X11-unix/X${name.slice(1)}`);
    display.#socket.on("data", (piece) => {
      display.#buffer = Buffer.concat([display.#buffer, piece]);
      display.#wake();
    });
    display.#socket.on("error", (error) => {
      display.#failure = error;
      display.#wake();
    });
    display.#socket.write(Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    const head = await display.#read(8);
    const setup = await display.#read(head.readUInt16LE(6) * 4);
    const vendor = (setup.readUInt16LE(16) + 3) & ~3;
    display.root = setup.readUInt32LE(32 + vendor + setup[21] * 8);
    return display;
  }

  async #read(length) {
    while (this.#buffer.length < length) {
      if (this.#failure) throw this.#failure;
      await new Promise((resolve) => (this.#wake = resolve));
    }
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }

  /** Sends a request: code, the byte after it, and the rest, padded. */
  send(code, byte, rest) {
    const padded = Buffer.concat([rest, Buffer.alloc(-rest.length & 3)]);
    const head = Buffer.from([code, byte, 0, 0]);
    head.writeUInt16LE(1 + padded.length / 4, 2);
    this.#socket.write(Buffer.concat([head, padded]));
  }

  /** Sends a request and gives its reply; `null` where the server refuses it (a window may go at any time). */
  async ask(code, byte, rest) {
    this.send(code, byte, rest);
    const head = await this.#read(32);
    if (head[0] === 0) return null;
    return Buffer.concat([head, await this.#read(head.readUInt32LE(4) * 4)]);
  }

  async atom(name) {
    const rest = Buffer.alloc(4 + name.length);
    rest.writeUInt16LE(name.length, 0);
    rest.write(name, 4, "latin1");
    return (await this.ask(INTERN_ATOM, 0, rest)).readUInt32LE(8);
  }

  async property(window, name) {
    const reply = await this.ask(GET_PROPERTY, 0, words(window, await this.atom(name), 0, 0, 1024));
    return reply?.subarray(32, 32 + reply.readUInt32LE(16) * (reply[1] / 8)) ?? Buffer.alloc(0);
  }

  close() {
    this.#socket.destroy();
  }
}

function words(...numbers) {
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((number, at) => bytes.writeUInt32LE(number, at * 4));
  return bytes;
}

async function onDisplay(name, work) {
  const display = await Display.open(name);
  try {
    return await work(display);
  } finally {
    display.close();
  }
}

async function visible(display) {
  const tree = await display.ask(QUERY_TREE, 0, words(display.root));
  const ids = Array.from({ length: tree.readUInt16LE(16) }, (_, at) => tree.readUInt32LE(32 + at * 4));
  const found = [];
  for (const id of ids) {
    const attributes = await display.ask(GET_ATTRIBUTES, 0, words(id));
    const title = (await display.property(id, "_NET_WM_NAME")).toString("utf8");
    if (attributes?.[26] === VIEWABLE && title !== "") found.push({ id, title });
  }
  return found;
}

/** The visible windows of programs: `[{ id, title }]`. */
export const windows = (name) => onDisplay(name, visible);

/** Presses the close button of every visible window. */
export const closeWindows = (name) =>
  onDisplay(name, async (display) => {
    const [protocols, close] = [await display.atom("WM_PROTOCOLS"), await display.atom("WM_DELETE_WINDOW")];
    const shown = await visible(display);
    for (const { id } of shown) {
      const event = Buffer.alloc(32);
      event[0] = CLIENT_MESSAGE;
      event[1] = 32;
      words(id, protocols, close, 0).copy(event, 4);
      display.send(SEND_EVENT, 0, Buffer.concat([words(id, 0), event]));
    }
    await display.atom("WM_STATE"); // answered only when the events before it were taken
    return shown;
  });
