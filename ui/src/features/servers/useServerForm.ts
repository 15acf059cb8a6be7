// A form from its opening to its saving: what the file had, what the person typed, and what the owner said to it.

import { useCallback, useEffect, useMemo, useState } from "react";

import { BackendError, listMcpServerConfigs, owner, saveMcpServer, type McpServerConfig } from "../../backend";
import { formOf, isChanged, rebase, type FormState } from "./form";
import { useTouched } from "./useTouched";
import { check, type Field, type Finding } from "./validate";

/** What the form was opened on. */
interface Opened {
  base: McpServerConfig | null;
  /** The file that `base` comes from; `null` for a new server, which asks for no particular one. */
  revision: string | null;
  before: FormState;
}

async function open(name: string | null): Promise<Opened> {
  if (name === null) return { base: null, revision: null, before: formOf(null) };
  const { servers, revision } = await listMcpServerConfigs();
  const base = servers.find((server) => server.name === name);
  if (base === undefined) {
    const message = `The settings have no usable server named “${name}” any more.`;
    throw new BackendError({ code: "MCP_SERVER_NOT_FOUND", message, hint: null, server: name, field: null, place: null });
  }
  return { base, revision, before: formOf(base) };
}

const FIELDS: readonly string[] = ["name", "command", "args", "env", "url", "headers", "timeout_seconds", "agents"] satisfies Field[];

export function useServerForm(name: string | null, taken: readonly string[]) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [form, setForm] = useState<FormState>(() => formOf(null));
  const [failure, setFailure] = useState<BackendError | null>(null);
  const [attempted, setAttempted] = useState(false);
  const { touched, touch } = useTouched();
  const [saving, setSaving] = useState(false);

  useEffect(() => {
    let current = true;
    open(name).then(
      (fresh) => {
        if (!current) return;
        setOpened(fresh);
        setForm(fresh.before);
      },
      (error: unknown) => current && setFailure(BackendError.from(error)),
    );
    return () => {
      current = false;
    };
  }, [name]);

  const base = opened?.base ?? null;
  const checked = useMemo(() => check(form, { base, taken }), [form, base, taken]);
  const answered = answeredProblem(failure);
  const problems = answered === null ? checked.problems : [...checked.problems, answered];

  const change = useCallback((part: Partial<FormState>) => {
    setForm((old) => ({ ...old, ...part }));
    setFailure((old) => (old?.code === "CONFLICT" ? old : null));
  }, []);

  /** Saves; answers the server's name where that worked. */
  async function save(): Promise<string | null> {
    setAttempted(true);
    if (checked.draft === null || opened === null) return null;
    setSaving(true);
    setFailure(null);
    try {
      await saveOver(opened, name, checked.draft);
      await owner.refresh();
      return checked.draft.name ?? null;
    } catch (error) {
      setFailure(BackendError.from(error));
      return null;
    } finally {
      setSaving(false);
    }
  }

  /** Takes the newest state of the file, with or without what the person changed on top. */
  async function reload(keepMine: boolean) {
    try {
      const fresh = await open(name);
      setForm(keepMine && opened !== null ? rebase(form, opened.before, fresh.before) : fresh.before);
      setOpened(fresh);
      setFailure(null);
      setAttempted(false);
    } catch (error) {
      setFailure(BackendError.from(error));
    }
  }

  const shown = attempted || answered !== null ? problems : problems.filter((p) => touched.has(p.field));
  return {
    base,
    form,
    change,
    touch,
    ready: opened !== null,
    changed: opened !== null && isChanged(form, opened.before),
    problems: shown,
    remarks: checked.remarks,
    failure: answered === null ? failure : null,
    saving,
    save,
    reload,
  };
}

export type ServerForm = ReturnType<typeof useServerForm>;

/** Saves on the file as it was opened. Where others changed something else in it meanwhile, on the newest one. */
async function saveOver(opened: Opened, name: string | null, draft: McpServerConfig) {
  try {
    await saveMcpServer(opened.revision, name, draft);
  } catch (error) {
    if (!(error instanceof BackendError) || error.code !== "CONFLICT") throw error;
    const fresh = await open(name);
    if (JSON.stringify(fresh.base) !== JSON.stringify(opened.base)) throw error;
    await saveMcpServer(fresh.revision, name, draft);
  }
}

/** What the owner found wrong with a field of the form. */
function answeredProblem(failure: BackendError | null): Finding | null {
  // A variable or header is named with its table: `env.TOKEN`.
  const field = failure?.field?.split(".", 1)[0] ?? "";
  if (failure?.code !== "INVALID" || !FIELDS.includes(field)) return null;
  const hint = failure.hint === null ? "" : ` ${failure.hint}`;
  return { field: field as Field, message: `${failure.message}${hint}` };
}
