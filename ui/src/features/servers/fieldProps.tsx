// What ties an input to its field of the form.

import { fieldId } from "./fields";
import type { ServerForm } from "./useServerForm";
import type { Field } from "./validate";

/** What every text field of the form shares: its id, its test id, its problem, and that it was visited. */
export function fieldProps(form: ServerForm, field: Field) {
  const problem = form.problems.filter((p) => p.field === field).map((p) => p.message);
  return {
    id: fieldId(field),
    "data-testid": `field-${field}`,
    error: problem.length === 0 ? undefined : <span data-testid={`problem-${field}`}>{problem.join(" ")}</span>,
    onBlur: () => form.touch(field),
  };
}
