// Looks into PNG pictures far enough to tell a drawn page from a blank one.

import { inflateSync } from "node:zlib";

/** The chunks of a PNG, by name and content. */
function* chunks(png) {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield [png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)];
    at += length + 12;
  }
}

/** Undoes the filter of one row in place; `above` is the row before it (PNG specification, clause 9). */
function unfilter(kind, row, above, step) {
  for (let i = 0; i < row.length; i += 1) {
    const left = i >= step ? row[i - step] : 0;
    const up = above[i];
    const corner = i >= step ? above[i - step] : 0;
    const near = left + up - corner;
    const [a, b, c] = [Math.abs(near - left), Math.abs(near - up), Math.abs(near - corner)];
    const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
    row[i] += [0, left, up, (left + up) >> 1, paeth][kind];
  }
}

/** Size and pixels of an 8-bit colour PNG without interlacing: `{ width, height, pixel(x, y) }` → 0xRRGGBB. */
export function decode(png) {
  const parts = [...chunks(png)];
  const header = parts.find(([name]) => name === "IHDR")[1];
  const [width, height, depth, colour] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]];
  const step = { 2: 3, 6: 4 }[colour];
  if (depth !== 8 || step === undefined || header[12] !== 0) throw new Error("not a plain 8-bit colour PNG");
  const data = inflateSync(Buffer.concat(parts.filter(([name]) => name === "IDAT").map(([, content]) => content)));
  const rows = [];
  for (let y = 0; y < height; y += 1) {
    const from = y * (width * step + 1);
    const row = data.subarray(from + 1, from + 1 + width * step);
    unfilter(data[from], row, rows[y - 1] ?? Buffer.alloc(row.length), step);
    rows.push(row);
  }
  const pixel = (x, y) => rows[y].readUIntBE(x * step, 3);
  return { width, height, pixel };
}

/** How many colours there are, and the share of the most frequent one. */
export function colours(png) {
  const { width, height, pixel } = decode(png);
  const counts = new Map();
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = pixel(x, y);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  const [background, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  return { count: counts.size, background, share: most / (width * height) };
}

/** Whether something is drawn: more than a few colours, and the background isn't all there is. */
export function looksDrawn(png) {
  const { count, share } = colours(png);
  return count > 8 && share < 0.999;
}
