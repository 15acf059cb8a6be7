// Every problem of the form, under it; each leads to its field.

import { ExactText } from "../../components/ExactText";
import { Notice } from "../../components/Notice";
import { LABELS, fieldId } from "./fields";
import type { Finding } from "./validate";
import classes from "./FormProblems.module.css";

export function FormProblems({ problems }: { problems: readonly Finding[] }) {
  if (problems.length === 0) return null;
  const title = problems.length === 1 ? "One thing to put right before this can be saved" : `${problems.length} things to put right before this can be saved`;
  return (
    <Notice kind="failure" title={title} testId="form-problems">
      <ul className={classes.list}>
        {problems.map(({ field, message }) => (
          <li key={`${field} ${message}`} data-testid="form-problem" data-field={field}>
            <button type="button" className={classes.link} onClick={() => document.getElementById(fieldId(field))?.focus()}>
              {LABELS[field]}
            </button>
            : <ExactText text={message} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}
