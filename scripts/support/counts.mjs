// Reads how many tests passed and failed from what test runners print. A runner whose numbers can't be read
// has failed: a run that tested nothing must not look green.

const add = (lines, pattern) => {
  let found = 0;
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const line of lines) {
    const match = pattern.exec(line);
    if (!match) continue;
    found += 1;
    for (const key of Object.keys(total)) total[key] += Number(match.groups[key] ?? 0);
  }
  return found > 0 ? total : null;
};

/** `cargo test`: one result line for each test program. */
export const cargo = (output) =>
  add(
    output.split("\n"),
    /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored;/,
  );

/** `node --test`: one line for each kind of outcome. */
export function node(output) {
  const number = (word) => {
    const match = new RegExp(`^[ℹ#] ${word} (\\d+)\\s*$`, "m").exec(output);
    return match ? Number(match[1]) : null;
  };
  const [passed, failed, cancelled, skipped, todo] = ["pass", "fail", "cancelled", "skipped", "todo"].map(number);
  if ([passed, failed, cancelled, skipped, todo].includes(null)) return null;
  return { passed, failed: failed + cancelled, skipped: skipped + todo };
}

/**
 * What one step counts for, from its exit code and its runner's numbers. Skipped tests count as failed:
 * this project has none. Returns `{ passed, failed, note }`, where the note says what the numbers don't.
 */
export function outcome(code, counts) {
  if (counts === null) return { passed: 0, failed: 1, note: "no test counts in its output" };
  const failed = counts.failed + counts.skipped;
  if (failed === 0 && code !== 0) return { passed: counts.passed, failed: 1, note: `exit code ${code}` };
  if (failed === 0 && counts.passed === 0) return { passed: 0, failed: 1, note: "it ran no test" };
  return { passed: counts.passed, failed, note: counts.skipped > 0 ? `${counts.skipped} skipped` : "" };
}
