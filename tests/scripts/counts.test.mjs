import assert from "node:assert/strict";
import { test } from "node:test";
import { cargo, node, outcome } from "../../scripts/support/counts.mjs";

test("cargo's result lines are summed over all test programs", () => {
  const output = [
    "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
    "test result: FAILED. 2 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.01s",
  ].join("\n");
  assert.deepEqual(cargo(output), { passed: 5, failed: 1, skipped: 4 });
  assert.equal(cargo("error: could not compile `x`"), null);
});

test("node's closing lines are read from both of its reporters", () => {
  for (const mark of ["ℹ", "#"]) {
    const output = ["tests 9", "suites 0", "pass 5", "fail 1", "cancelled 1", "skipped 1", "todo 1"]
      .map((line) => `${mark} ${line}`)
      .join("\n");
    assert.deepEqual(node(output), { passed: 5, failed: 2, skipped: 2 });
  }
  assert.equal(node("ℹ pass 5\n"), null);
});

test("a run counts as failed when its numbers are missing, when it tested nothing, and when it skipped", () => {
  assert.equal(outcome(0, null).failed, 1);
  assert.equal(outcome(0, { passed: 0, failed: 0, skipped: 0 }).failed, 1);
  assert.equal(outcome(0, { passed: 2, failed: 0, skipped: 1 }).failed, 1);
  assert.equal(outcome(101, { passed: 2, failed: 0, skipped: 0 }).failed, 1);
  assert.deepEqual(outcome(0, { passed: 2, failed: 0, skipped: 0 }), { passed: 2, failed: 0, note: "" });
  assert.equal(outcome(1, { passed: 2, failed: 3, skipped: 0 }).failed, 3);
});
