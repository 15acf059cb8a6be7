// Moments as people read them. Pure but for the clock's own day.

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** A moment in milliseconds since 1970: the time today, else with its day. */
export function moment(ms: number, now: Date = new Date()): string {
  const date = new Date(ms);
  const time = CLOCK.format(date);
  return date.toDateString() === now.toDateString() ? time : `${DAY.format(date)}, ${time}`;
}
