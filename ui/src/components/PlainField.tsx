// Text fields for what programs read: set in a fixed-width font, and left alone by every helper that changes text.

import { TextInput, Textarea, type TextInputProps, type TextareaProps } from "@mantine/core";

import classes from "./PlainField.module.css";

/** Switches off substitution, spelling and capitals. */
export const UNTOUCHED = { autoCorrect: "off", autoCapitalize: "off", autoComplete: "off", spellCheck: false, "data-gramm": "false" } as const;

const MONO = { input: classes.mono };
const WORDS = { input: classes.words };

export function PlainInput(props: TextInputProps) {
  return <TextInput {...UNTOUCHED} classNames={MONO} {...props} />;
}

/** The same for words: a search. */
export function WordInput(props: TextInputProps) {
  return <TextInput {...UNTOUCHED} classNames={WORDS} {...props} />;
}

interface AreaProps extends TextareaProps {
  value: string;
  /** Lines shown at least. */
  least?: number;
}

/** A field of one item a line, as high as its lines; a long line scrolls instead of breaking. */
export function PlainArea({ least = 2, ...props }: AreaProps) {
  const rows = Math.min(12, Math.max(least, props.value.split("\n").length));
  return <Textarea {...UNTOUCHED} classNames={{ input: classes.lines }} rows={rows} wrap="off" {...props} />;
}
