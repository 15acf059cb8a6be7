// An on/off switch: a button that says its state to screen readers.

import classes from "./Switch.module.css";

interface Props {
  on: boolean;
  /** What it switches, for screen readers. */
  label: string;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

export function Switch({ on, label, disabled = false, onChange }: Props) {
  return (
    <button type="button" role="switch" className={classes.switch} data-testid="server-switch" aria-checked={on} aria-label={label} disabled={disabled} onClick={() => onChange(!on)}>
      <span className={classes.thumb} />
    </button>
  );
}
