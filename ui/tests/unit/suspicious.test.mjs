// Characters that deceive the eye are found with their place.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";

import { load } from "../support/load.mjs";

const { suspicious, plainText, writtenOut } = await load("text/suspicious.ts");

test("plain text in any script has none", () => {
  for (const text of ["npx -y 'x' \"y\"\n\ttab", "我的服务器", "мой сервер", "é e\u0301 🧩", "••••••••"]) deepEqual(suspicious(text), [], text);
});

test("places count characters, not bytes, on their line", () => {
  const [found] = suspicious("ok\n🧩é\u200bx");
  deepEqual([found.line, found.column, found.code, found.index], [2, 3, "U+200B", 6]);
});

test("what cannot be seen or reorders text is hidden, what only looks alike is not", () => {
  for (const c of ["\u00a0", "\u00ad", "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u0007", "\r", "\u{e0041}", "\u3164", "\ufe0f", "\u2028"]) equal(suspicious(c)[0]?.hidden, true, c.codePointAt(0).toString(16));
  for (const c of ["“", "’", "–", "—", "−", "…", "Ａ"]) equal(suspicious(c)[0]?.hidden, false, c);
});

test("plain text is what was probably meant", () => {
  equal(plainText("–yes —no a–b “x” ‘y’ a\u00a0b z\u200bz … ｎｐｘ"), `--yes --no a-b "x" 'y' a b zz ... npx`);
});

test("only what cannot be seen or reorders text is written out", () => {
  equal(writtenOut("a\u202eb\u200b “c”"), "a[U+202E]b[U+200B] “c”");
});
