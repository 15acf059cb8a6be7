// The text fields of one item a line lose nothing.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { load } from "../support/load.mjs";

const { encodeLine, decodeLine, encodeList, decodeList, encodePairs, decodePair, linesOf } = await load("features/servers/lines.ts");

const ODD = [
  "", " ", "\t", "\n", "\r", "\r\n", "a\nb", "a\r\nb", "a\rb", " lead", "trail ", "$''", "$'a'", "$'\\n'", "$'", "$'a", "a'", "'a'", '"a"', "\\", "\\n",
  "\\\\n", "\u0000", "\u0007", "\u007f", "\u001b[31m", "“curly”", "–yes", "\u00a0", "\u200b", "\u202ex", "\u2028", "我的服务器", "e\u0301", "é", "🧩", "--json={\"a\": \"x & y\"}", "=", "a=b", ":", "a: b", "$'a=b'", "$'a'=b'",
];

/** What a text area makes of a value. */
const throughField = (text) => text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");

test("every argument comes back exactly, alone and in company", () => {
  for (const value of ODD) equal(decodeLine(encodeLine(value)), value);
  deepEqual(decodeList(throughField(encodeList(ODD))), ODD);
});

test("random arguments come back exactly", () => {
  const alphabet = [...ODD.join(""), ..."abc$'\\nrtx0\"=: \n\r"];
  let seed = 7;
  const next = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 2000; round += 1) {
    const items = Array.from({ length: next(5) }, () => Array.from({ length: next(7) }, () => alphabet[next(alphabet.length)]).join(""));
    deepEqual(decodeList(throughField(encodeList(items))), items);
  }
});

test("plain arguments are shown as they are", () => {
  equal(encodeList(["-y", "a b", '{"a": 1}', "C:\\x", "it's"]), '-y\na b\n{"a": 1}\nC:\\x\nit\'s');
});

test("an empty argument and one with a line break are written out", () => {
  equal(encodeList(["--empty", "", "a\nb"]), "--empty\n$''\n$'a\\nb'");
});

test("blank lines are no arguments", () => {
  deepEqual(decodeList("a\n\n  \nb\n"), ["a", "b"]);
});

test("pairs come back exactly, in both notations", () => {
  for (const separator of ["=", ":"]) {
    for (const name of ODD) {
      for (const value of ODD) {
        const text = throughField(encodePairs({ [name]: value }, separator));
        const lines = linesOf(text);
        equal(lines.length, 1, JSON.stringify([name, value, text]));
        const pair = decodePair(lines[0], separator);
        deepEqual([pair.name, pair.value], [name, value], JSON.stringify(text));
      }
    }
  }
});

test("a line without its separator is no pair", () => {
  equal(decodePair({ number: 1, text: "NAME" }, "="), null);
  equal(decodePair({ number: 1, text: "Name=x" }, ":"), null);
});

test("a header's value is taken without the space after the colon, a variable's with it", () => {
  equal(decodePair({ number: 1, text: "Accept:  a " }, ":").value, "a");
  equal(decodePair({ number: 1, text: "A= b " }, "=").value, " b ");
});
