// A message in the page's flow: information, something to attend to, or a failure.

import { CloseButton } from "@mantine/core";
import type { ReactNode } from "react";

import type { BackendError, Place } from "../backend";
import { ExactText } from "./ExactText";
import classes from "./Notice.module.css";

export type NoticeKind = "information" | "attention" | "failure";

interface Props {
  kind: NoticeKind;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  onClose?: () => void;
  testId?: string;
}

export function Notice({ kind, title, children, actions, onClose, testId }: Props) {
  return (
    <section className={classes.notice} data-kind={kind} data-testid={testId} role={kind === "failure" ? "alert" : undefined}>
      <div className={classes.text}>
        <p className={classes.title}>
          <ExactText text={title} />
        </p>
        {children}
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      {onClose !== undefined && <CloseButton size="sm" aria-label="Dismiss this message" onClick={onClose} />}
    </section>
  );
}

interface ErrorProps {
  title: string;
  error: BackendError;
  actions?: ReactNode;
  onClose?: () => void;
  testId?: string;
}

/** A failure that the owner answered: what, where, and what to do next. */
export function ErrorNotice({ title, error, ...rest }: ErrorProps) {
  return (
    <Notice kind="failure" title={title} {...rest}>
      <p>
        <ExactText text={error.message} breaks />
      </p>
      {error.place !== null && <PlaceText place={error.place} />}
      {error.hint !== null && (
        <p>
          <ExactText text={error.hint} breaks />
        </p>
      )}
    </Notice>
  );
}

/** A place in a file: path, line and column. */
export function PlaceText({ place }: { place: Place }) {
  const line = place.line === null ? "" : `, line ${place.line}`;
  const column = place.line === null || place.column === null ? "" : `, column ${place.column}`;
  return (
    <p className={classes.place}>
      <span className={classes.file}>
        <ExactText text={place.file} />
      </span>
      {line}
      {column}
    </p>
  );
}
