// The form's fields as people know them.

import type { Field } from "./validate";

export const LABELS: Record<Field, string> = {
  name: "Name",
  command: "Command",
  args: "Arguments",
  env: "Environment",
  url: "Web address",
  headers: "Headers",
  timeout_seconds: "Time limit",
  agents: "Agents",
};

/** The id of a field's input, for its label and for the list of problems. */
export function fieldId(field: Field): string {
  return `server-${field}`;
}
