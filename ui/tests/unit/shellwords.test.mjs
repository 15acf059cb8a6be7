// A pasted command line is split as a POSIX shell splits words.

import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { load } from "../support/load.mjs";

const { splitCommandLine } = await load("features/servers/shellwords.ts");

const line = (text) => {
  const split = splitCommandLine(text);
  equal(split.ok, true, split.message);
  return split.line;
};
const words = (text) => {
  const { command, args } = line(text);
  return [command, ...args];
};
const refusal = (text) => {
  const split = splitCommandLine(text);
  equal(split.ok, false, JSON.stringify(split));
  return split.message;
};

test("quotes hold spaces together and an empty argument stays", () => {
  deepEqual(words(`"/opt/My Tools/srv" --cfg "a b.json" --empty "" --json '{"a": "x & y"}'`), [
    "/opt/My Tools/srv", "--cfg", "a b.json", "--empty", "", "--json", '{"a": "x & y"}',
  ]);
});

test("words come out as they do from sh", () => {
  const lines = [
    `a  b\tc`, `'a'"b"c`, `a\\ b`, `"a\\"b" 'a\\b' "a\\b" "a\\\\b"`, `a\\\nb`, `"a\\\nb"`, `'' "" a''`, `"$" '$x'`, `--x="y z"`, `\\"a\\"`, `a\\'b`, "\\`a", `ünï "çödé"`, `a#b`, `"a'b" 'a"b'`,
  ];
  for (const text of lines) {
    const out = execFileSync("/bin/sh", ["-c", `for w in ${text}; do printf '%s\\0' "$w"; done`], { encoding: "utf8" });
    deepEqual(words(text), out.split("\0").slice(0, -1), text);
  }
});

test("$'…' is read with its escapes", () => {
  deepEqual(words(`x $'a\\nb' $''`), ["x", "a\nb", ""]);
});

test("variables before the program become its environment", () => {
  deepEqual(line(`A=1 B="x y" npx -y pkg C=3`), { env: [["A", "1"], ["B", "x y"]], command: "npx", args: ["-y", "pkg", "C=3"] });
  deepEqual(line(`"A=1" x`), { env: [], command: "A=1", args: ["x"] });
});

test("an open quote and a lone backslash are refused with their place", () => {
  match(refusal(`npx "a b`), /^Character 5: the quote " is not closed/);
  match(refusal(`é 'x`), /^Character 3: the quote '/);
  match(refusal(`$'x`), /^Character 1: the quote \$'/);
  match(refusal("x \\"), /backslash/);
});

test("what only a shell can do is refused", () => {
  for (const [text, at] of [["a | b", 3], ["a && b", 3], ["a; b", 2], ["a > f", 3], ["(a)", 1]]) match(refusal(text), new RegExp(`^Character ${at}: no shell`));
  deepEqual(words(`a "|" '&&' \\;`), ["a", "|", "&&", ";"]);
});

test("a Windows path keeps its backslashes in quotes and is refused without", () => {
  deepEqual(words(`"C:\\Program Files\\srv.cmd" 'D:\\a'`), ["C:\\Program Files\\srv.cmd", "D:\\a"]);
  match(refusal(`C:\\tools\\srv.exe`), /Windows path in quotes/);
});

test("nothing is nothing", () => {
  deepEqual(line("  \n "), { env: [], command: "", args: [] });
});
