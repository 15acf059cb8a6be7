// Waiting for something that another process does.

/** How long is waited at most, in milliseconds. */
export const patience = 30_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks `look` again and again until it gives something true, and resolves to that.
 * An error of `look` counts as "not yet"; the last one is told when the time is over.
 */
export async function until(what, look, { within = patience, every = 25 } = {}) {
  const end = performance.now() + within;
  let last;
  do {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await pause(every);
  } while (performance.now() < end);
  throw new Error(`waited ${within} ms in vain for ${what}${last ? `: ${last.message}` : ""}`);
}
