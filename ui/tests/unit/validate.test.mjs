// What can be saved, what it then means, and what is only pointed out.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";

import { load } from "../support/load.mjs";

const { check, formOf, rebase, hiddenKeys, MASK } = await load("features/servers/validate.ts", "features/servers/form.ts");

const BLANK = formOf(null);
const OK = { ...BLANK, name: "fs", command: "npx" };
const WEB = { ...BLANK, name: "web", kind: "url", url: "https://example.com/mcp" };
const run = (form, context = {}) => check(form, { base: null, taken: [], ...context });
const problems = (form, context) => run(form, context).problems.map((p) => `${p.field}: ${p.message}`);
const remarks = (form, context) => run(form, context).remarks.map((p) => `${p.field}: ${p.message}`);
const edit = (base, change = {}) => run({ ...formOf(base), ...change }, { base });

test("a new form asks for a name and a program, and gives no draft", () => {
  const { problems: found, draft } = run(BLANK);
  deepEqual(found.map((p) => p.field), ["name", "command"]);
  equal(draft, null);
});

test("the least that is needed becomes the least that is written", () => {
  deepEqual(run(OK).draft, { command: "npx", args: [], env: {}, sandbox: null, name: "fs", timeout_seconds: null, agents: [], auto_approve: false });
  deepEqual(run(WEB).draft, { url: "https://example.com/mcp", headers: {}, name: "web", timeout_seconds: null, agents: [], auto_approve: false });
});

test("every field of the form reaches the draft", () => {
  const { draft } = run({ ...OK, args: "-y\npkg", env: "A=1\nB=x=y", sandbox: false, autoApprove: true, timeout: "42", audience: "named", agents: "codex\nclaude" });
  deepEqual(draft, { command: "npx", args: ["-y", "pkg"], env: { A: "1", B: "x=y" }, sandbox: false, name: "fs", timeout_seconds: 42, agents: ["codex", "claude"], auto_approve: true });
  deepEqual(run({ ...WEB, headers: "X-Key:  a b \nAccept:x", audience: "all" }).draft.headers, { "X-Key": "a b", Accept: "x" });
  deepEqual(run({ ...WEB, audience: "all" }).draft.agents, ["*"]);
});

test("names are letters, digits, dot, hyphen and underscore, and nobody else's", () => {
  for (const name of ["a", "A-1_b.c", "..", "true", "x".repeat(200)]) deepEqual(problems({ ...OK, name }), []);
  for (const name of ["my server", "я", 'we"ird', "a/b", "é", "x".repeat(201)]) equal(problems({ ...OK, name }).length, 1, name);
  match(problems({ ...OK, name: "my server" })[0], /character 3/);
  match(problems(OK, { taken: ["fs"] })[0], /Another server/);
});

test("a name that the form refuses may stay, and may not be given", () => {
  const base = { name: "我的 server", command: "x" };
  deepEqual(edit(base).problems, []);
  equal(edit(base).draft.name, "我的 server");
  equal(edit(base, { name: "我的" }).problems.length, 1);
});

test("an unchanged form gives back what the file has, byte for byte", () => {
  const bases = [
    { name: "a", command: "/opt/My Tools/srv", args: ["", "a\nb", " x ", "$'q'", "“", "\r"], env: { A: "", B: "x\ny", C: ` "q" ${MASK}`, "odd name": MASK }, sandbox: true, agents: ["*", "x"], timeout_seconds: 300 },
    { name: "b", url: " https://u:p@h/ x", headers: { "X-A": "", "bad name": "ü", Authorization: `Bearer ${MASK}` }, type: "sse", agents: [" a", "b,c", ""], auto_approve: true, oauth: { scopes: ["s"] } },
    { name: "c", command: "line\nbreak", sandbox: false, cwd: "/w", tools: ["read_*"], prefix: "p", max_seconds: 9, disabled: true, health_check: { enabled: true }, always_allow: ["t"], agents: ["*"] },
  ];
  for (const base of bases) {
    const { problems: found, draft } = edit(base);
    deepEqual(found, [], base.name);
    for (const [key, value] of Object.entries(base)) deepEqual(draft[key], value, `${base.name}.${key}`);
  }
});

test("keys that the form does not show survive an edit and are named", () => {
  const base = { name: "a", command: "x", cwd: "/w", tools: ["t"], health_check: { enabled: true }, always_allow: [], disabled: true };
  const { draft } = edit(base, { timeout: "5" });
  deepEqual([draft.cwd, draft.tools, draft.health_check, draft.disabled], ["/w", ["t"], { enabled: true }, true]);
  deepEqual(hiddenKeys(base), ["cwd", "tools", "health_check"]);
});

test("another transport drops only what belonged to the old one", () => {
  const base = { name: "a", command: "x", args: ["y"], env: { A: "1" }, cwd: "/w", sandbox: false, type: "stdio", prefix: "p", tools: ["t"], disabled: true };
  deepEqual(edit(base, { kind: "url", url: "https://h/" }).draft, { prefix: "p", tools: ["t"], disabled: true, url: "https://h/", headers: {}, name: "a", timeout_seconds: null, agents: [], auto_approve: false });
  const web = { name: "a", url: "https://h/", headers: { A: "1" }, type: "sse", oauth: {}, prefix: "p" };
  deepEqual(Object.keys(edit(web, { kind: "command", command: "x" }).draft).sort(), ["agents", "args", "auto_approve", "command", "env", "name", "prefix", "sandbox", "timeout_seconds"]);
});

test("the sandbox is written only when off, and stays written where it was", () => {
  equal(run(OK).draft.sandbox, null);
  equal(run({ ...OK, sandbox: false }).draft.sandbox, false);
  equal(edit({ name: "a", command: "x", sandbox: true }).draft.sandbox, true);
  equal(edit({ name: "a", command: "x", sandbox: false }, { sandbox: true }).draft.sandbox, null);
});

test("hidden values stay where they are, and nothing is made of them", () => {
  const base = { name: "a", command: "x", args: [`--token=${MASK}`], env: { KEY: MASK, OLD: "1" } };
  deepEqual(edit(base).problems, []);
  equal(edit(base, { env: `KEY=${MASK}\nNEW=${MASK}` }).problems.length, 1);
  equal(edit(base, { env: `KEY=x${MASK}` }).problems.length, 1);
  equal(edit(base, { env: `OLD=${MASK}` }).problems.length, 1);
  equal(edit(base, { args: `--token=${MASK}\n--key=${MASK}` }).problems.length, 1);
  equal(edit(base, { env: "KEY=new" }).draft.env.KEY, "new");
  deepEqual(edit({ name: "w", url: "https://h/", headers: { "X-Key": MASK } }, { headers: `x-key: ${MASK}` }).problems, []);
});

test("variables and headers need a name and a separator, once each", () => {
  deepEqual(problems({ ...OK, env: "A=1\n\nB\n=x\nA=2\nx y=1" }), [
    "env: Line 3: write NAME=value.", "env: Line 4: the name is missing.", "env: Line 5: A is set twice.", "env: Line 6: “x y” cannot be the name of a variable.",
  ]);
  deepEqual(problems({ ...WEB, headers: "A: 1\na: 2\nB\nx y: 1\nC: $'a\\nb'" }), [
    "headers: Line 2: a is set twice.", "headers: Line 3: write Name: value.", "headers: Line 4: “x y” cannot be the name of a header.", "headers: Line 5: the value holds a character that cannot be passed on.",
  ]);
  deepEqual(run({ ...OK, env: "__proto__=1\ntoString=2" }).draft.env, JSON.parse('{"__proto__":"1","toString":"2"}'));
});

test("a web address is whole, and may hold variables", () => {
  for (const url of ["https://h", "http://localhost:3000/mcp", "http://${HOST}:${PORT}/mcp", "${BASE}/mcp", "https://[::1]:1/", "  https://h/  "]) deepEqual(problems({ ...WEB, url }), [], url);
  for (const url of ["", "h/mcp", "ftp://h", "https://", "https:h", "https:///h", "http://a b/", "javascript:alert(1)", "https://h:99999"]) equal(problems({ ...WEB, url }).length, 1, url);
  equal(run({ ...WEB, url: " https://h/ " }).draft.url, "https://h/");
  match(remarks({ ...WEB, url: "http://h/" })[0], /not encrypted/);
  deepEqual(remarks({ ...WEB, url: "http://127.0.0.1:1/" }), []);
  match(remarks({ ...WEB, url: "https://u:p@h/" })[0], /sign-in/);
});

test("a time limit is whole seconds or nothing", () => {
  for (const timeout of ["", " 5 ", "1", "300"]) deepEqual(problems({ ...OK, timeout }), []);
  for (const timeout of ["0", "-1", "42abc", "1e9", "1,5", "1.5", "0x10", "99999999999", "١"]) equal(problems({ ...OK, timeout }).length, 1, timeout);
});

test("named agents need a name", () => {
  equal(problems({ ...OK, audience: "named" }).length, 1);
  deepEqual(problems({ ...OK, audience: "primary", agents: "" }), []);
});

test("characters that were probably not meant are pointed out with their place and kept", () => {
  const form = { ...OK, command: "npx\u00a0x", args: "ok\n–yes “q”", env: "A=\u200bx" };
  deepEqual(remarks(form), [
    "command: This looks like a whole command line. Split it, so that each argument is one of its own.",
    "command: Character 4: no-break space (U+00A0); a plain space may be meant.",
    "args: Line 2, character 1: en dash (U+2013); -- may be meant.",
    "args: Line 2, character 6: curly quote (U+201C); \" may be meant.",
    "args: Line 2, character 8: curly quote (U+201D); \" may be meant.",
    "env: Line 1, character 3: zero-width space (U+200B).",
  ]);
  deepEqual(run(form).draft.args, ["ok", "–yes “q”"]);
  deepEqual(run(form).draft.env, { A: "\u200bx" });
});

test("usual slips are pointed out", () => {
  match(remarks({ ...OK, command: "npx -y pkg" })[0], /whole command line/);
  deepEqual(remarks({ ...OK, command: "/opt/My Tools/srv" }), []);
  match(remarks({ ...OK, args: '"a b"' })[0], /Line 1: the quotes/);
  match(remarks({ ...OK, args: "--port 3000" })[0], /one argument/);
  match(remarks({ ...OK, args: "a " })[0], /spaces at the ends/);
  match(remarks({ ...OK, args: "$''" })[0], /empty argument/);
  match(remarks({ ...OK, args: "$'a\\nb'" })[0], /line break/);
  match(remarks({ ...OK, env: 'A="x"' })[0], /quotes are part/);
});

test("a reload keeps what the person changed and takes the rest from the file", () => {
  const before = formOf({ name: "a", command: "x", args: ["1"] });
  const newest = formOf({ name: "a", command: "y", args: ["2"], timeout_seconds: 5 });
  const merged = rebase({ ...before, args: "mine" }, before, newest);
  deepEqual([merged.command, merged.args, merged.timeout], ["y", "mine", "5"]);
});
