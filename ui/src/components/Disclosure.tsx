// A button that shows or hides what belongs to it.

import type { ReactNode } from "react";
import { useId, useState } from "react";

import classes from "./Disclosure.module.css";

interface Props {
  label: string;
  children: () => ReactNode;
  testId?: string;
}

export function Disclosure({ label, children, testId }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={classes.disclosure}>
      <button type="button" className={classes.button} data-testid={testId} aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <svg className={classes.arrow} viewBox="0 0 10 10" aria-hidden="true">
          <path d="M3 1.5 7 5 3 8.5" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
        </svg>
        {label}
      </button>
      <div id={id}>{open && children()}</div>
    </div>
  );
}
