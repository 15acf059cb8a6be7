// What is pointed out about a field without keeping it from being saved.

import { Button } from "@mantine/core";
import type { ReactNode } from "react";

import { ExactText } from "../../components/ExactText";
import { plainText } from "../../text/suspicious";
import type { Field, Finding } from "./validate";
import classes from "./FieldNotes.module.css";

interface Props {
  field: Field;
  remarks: readonly Finding[];
  /** The field's text, which may be put into plain characters. */
  value: string;
  onPlain: (value: string) => void;
  /** More that can be done about it. */
  children?: ReactNode;
}

export function FieldNotes({ field, remarks, value, onPlain, children }: Props) {
  const own = remarks.filter((remark) => remark.field === field);
  if (own.length === 0) return null;
  const plain = plainText(value);
  return (
    <div className={classes.notes} data-testid={`remarks-${field}`}>
      <ul>
        {own.map(({ message }) => (
          <li key={message}>
            <ExactText text={message} />
          </li>
        ))}
      </ul>
      <div className={classes.actions}>
        {children}
        {plain !== value && (
          <Button size="compact-xs" data-testid={`plain-${field}`} onClick={() => onPlain(plain)}>
            Use plain characters
          </Button>
        )}
      </div>
    </div>
  );
}
