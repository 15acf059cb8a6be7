// Characters that look like another one, cannot be seen, or reorder text. Pure; the form points them out, and every
// place that shows foreign text writes them out.

export interface Suspicious {
  /** Offset in UTF-16 units. */
  index: number;
  /** Length in UTF-16 units. */
  length: number;
  /** From 1. */
  line: number;
  /** From 1, in characters (code points) of its line. */
  column: number;
  /** `U+200B`. */
  code: string;
  /** What people call it. */
  name: string;
  /** What was probably meant; empty where it has no place at all. */
  plain: string;
  /** Whether it cannot be told from nothing or from a space by eye, or changes the order of what follows. */
  hidden: boolean;
}

interface Kind {
  from: number;
  to: number;
  name: string;
  plain: string;
  hidden: boolean;
}

const kind = (from: number, to: number, name: string, plain: string, hidden = false): Kind => ({ from, to, name, plain, hidden });

/** Sorted by code point; every range is named as a whole. */
const KINDS: readonly Kind[] = [
  kind(0x0000, 0x0008, "control character", "", true),
  kind(0x000b, 0x000c, "control character", "", true),
  kind(0x000d, 0x000d, "carriage return", "", true),
  kind(0x000e, 0x001f, "control character", "", true),
  kind(0x007f, 0x009f, "control character", "", true),
  kind(0x00a0, 0x00a0, "no-break space", " ", true),
  kind(0x00ab, 0x00ab, "angle quote", '"'),
  kind(0x00ad, 0x00ad, "soft hyphen", "", true),
  kind(0x00bb, 0x00bb, "angle quote", '"'),
  kind(0x034f, 0x034f, "invisible joiner", "", true),
  kind(0x061c, 0x061c, "text direction mark", "", true),
  kind(0x115f, 0x1160, "invisible filler", "", true),
  kind(0x1680, 0x1680, "wide space", " ", true),
  kind(0x17b4, 0x17b5, "invisible vowel", "", true),
  kind(0x180b, 0x180f, "invisible separator", "", true),
  kind(0x2000, 0x200a, "typographic space", " ", true),
  kind(0x200b, 0x200b, "zero-width space", "", true),
  kind(0x200c, 0x200d, "zero-width joiner", "", true),
  kind(0x200e, 0x200f, "text direction mark", "", true),
  kind(0x2010, 0x2012, "typographic hyphen", "-"),
  kind(0x2013, 0x2013, "en dash", "-"),
  kind(0x2014, 0x2015, "em dash", "-"),
  kind(0x2018, 0x201b, "curly quote", "'"),
  kind(0x201c, 0x201f, "curly quote", '"'),
  kind(0x2026, 0x2026, "ellipsis", "..."),
  kind(0x2028, 0x2029, "line separator", " ", true),
  kind(0x202a, 0x202e, "text direction override", "", true),
  kind(0x202f, 0x202f, "narrow no-break space", " ", true),
  kind(0x2032, 0x2032, "prime", "'"),
  kind(0x2033, 0x2033, "double prime", '"'),
  kind(0x2039, 0x203a, "angle quote", "'"),
  kind(0x205f, 0x205f, "typographic space", " ", true),
  kind(0x2060, 0x2064, "zero-width character", "", true),
  kind(0x2066, 0x2069, "text direction isolate", "", true),
  kind(0x206a, 0x206f, "invisible format character", "", true),
  kind(0x2212, 0x2212, "minus sign", "-"),
  kind(0x2800, 0x2800, "blank pattern", " ", true),
  kind(0x3000, 0x3000, "wide space", " ", true),
  kind(0x3164, 0x3164, "invisible filler", "", true),
  kind(0xd800, 0xdfff, "broken character", "", true),
  kind(0xfe00, 0xfe0f, "variation selector", "", true),
  kind(0xfeff, 0xfeff, "byte order mark", "", true),
  kind(0xff01, 0xff5e, "full-width letter or sign", ""),
  kind(0xffa0, 0xffa0, "invisible filler", "", true),
  kind(0xfff9, 0xfffb, "invisible annotation", "", true),
  kind(0xe0000, 0xe007f, "invisible tag", "", true),
  kind(0xe0100, 0xe01ef, "variation selector", "", true),
];

function kindOf(code: number): Kind | undefined {
  // Everything up to the tilde that people type all day, but for control characters.
  if (code >= 0x20 && code < 0x7f) return undefined;
  return KINDS.find((k) => code >= k.from && code <= k.to);
}

function plainOf(code: number, found: Kind, before: string | undefined, after: string | undefined): string {
  if (found.from === 0xff01) return String.fromCodePoint(code - 0xfee0);
  // Text substitution turns the two hyphens of `--flag` into one long dash.
  const startsWord = before === undefined || /\s/u.test(before);
  const long = found.from === 0x2013 || found.from === 0x2014;
  if (long && startsWord && after !== undefined && /[a-z]/iu.test(after)) return "--";
  return found.plain;
}

/** The suspicious characters of a text in their order. Line breaks and tabs are none. */
export function suspicious(text: string): Suspicious[] {
  const found: Suspicious[] = [];
  const characters = [...text];
  let index = 0;
  let line = 1;
  let column = 0;
  characters.forEach((character, at) => {
    column += 1;
    const code = character.codePointAt(0) ?? 0;
    const match = kindOf(code);
    if (match !== undefined) {
      const plain = plainOf(code, match, characters[at - 1], characters[at + 1]);
      const written = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      found.push({ index, length: character.length, line, column, code: written, name: match.name, plain, hidden: match.hidden });
    }
    if (character === "\n") {
      line += 1;
      column = 0;
    }
    index += character.length;
  });
  return found;
}

/** The text with every suspicious character replaced by what was probably meant. */
export function plainText(text: string): string {
  let plain = "";
  let from = 0;
  for (const s of suspicious(text)) {
    plain += text.slice(from, s.index) + s.plain;
    from = s.index + s.length;
  }
  return plain + text.slice(from);
}

/** The text with what cannot be seen or reorders text written out, for places that hold plain text only. */
export function writtenOut(text: string): string {
  let written = "";
  let from = 0;
  for (const s of suspicious(text).filter((one) => one.hidden)) {
    written += `${text.slice(from, s.index)}[${s.code}]`;
    from = s.index + s.length;
  }
  return written + text.slice(from);
}
