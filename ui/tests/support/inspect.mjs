// What a reader or a screen reader would complain about. Each function runs in the page.

/** Text whose contrast with its ground is below 4.5 (3 for large text). Disabled controls are exempt. */
export function poorContrast() {
  const parse = (colour) => {
    const [r, g, b, a = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    return { r, g, b, a };
  };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    const layers = [];
    for (let e = element; e !== null; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  // Below an open dialog nothing is read.
  const root = document.querySelector('[aria-modal="true"]') ?? document.body;
  const poor = [];
  for (const element of root.querySelectorAll("*")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.textContent.trim()).join(" ").trim() || (["checkbox", "radio"].includes(element.type) ? "" : element.value || element.placeholder);
    if (!own || element.closest(":disabled, style, script, svg") !== null || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const under = ground(element);
    const [a, b] = [light(over(parse(style.color), under)), light(under)].sort((x, y) => y - x);
    const large = Number.parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 600;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) poor.push(`${ratio.toFixed(2)} ${own.slice(0, 40)}`);
  }
  return poor;
}

/** Elements that reach beyond the window sideways, or whose content is cut sideways without a way to scroll to it. */
export function sticksOut() {
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg, style, script") !== null || element.getClientRects().length === 0) continue;
    const { right, width } = element.getBoundingClientRect();
    const name = element.dataset.testid ?? `${element.tagName} ${element.className}`;
    if (right > innerWidth + 1 && width > 1) found.push(`${name} ends at ${right}`);
    const style = getComputedStyle(element);
    const scrolls = ["auto", "scroll"].includes(style.overflowX) || element.tagName === "INPUT";
    if (style.overflowX === "hidden" && !scrolls && element.scrollWidth > element.clientWidth + 1 && width > 4) found.push(`${name} is cut`);
  }
  return found;
}

/** Controls without a name for screen readers. */
export function unnamed() {
  const labels = (e) => [...(e.labels ?? [])].map((l) => l.textContent.trim()).join("");
  const by = (e) => (e.getAttribute("aria-labelledby") ?? "").split(" ").map((i) => document.getElementById(i)?.textContent ?? "").join("");
  return [...document.querySelectorAll("button, input, textarea, select, [role]:not([role=presentation]):not(bdi)")]
    .filter((e) => ["BUTTON", "INPUT", "TEXTAREA", "SELECT"].includes(e.tagName) || ["dialog", "switch", "radiogroup", "log", "group"].includes(e.getAttribute("role")))
    .filter((e) => !(e.getAttribute("aria-label") || by(e) || labels(e) || (e.tagName === "BUTTON" && e.textContent.trim())))
    .map((e) => e.outerHTML.slice(0, 120));
}
