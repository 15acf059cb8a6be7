// Opens a folder as a workspace, or the workspace without one.

import { Button } from "@mantine/core";
import { useState } from "react";

import { BackendError, openWorkspace, owner } from "../../backend";
import { ErrorNotice } from "../../components/Notice";
import { PlainInput } from "../../components/PlainField";
import classes from "./OpenWorkspace.module.css";

interface Props {
  /** Whether none is open, so that the page explains what one is. */
  first: boolean;
  /** Whether the workspace without a folder may be offered. */
  withoutFolder: boolean;
  onOpened: (key: string) => void;
}

export function OpenWorkspace({ first, withoutFolder, onOpened }: Props) {
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<BackendError | null>(null);

  async function open(folder: string | null) {
    setBusy(true);
    setError(null);
    try {
      const key = await openWorkspace(folder);
      await owner.refresh();
      onOpened(key);
    } catch (failure) {
      setError(BackendError.from(failure));
    }
    setBusy(false);
  }

  return (
    <section className={classes.open} data-testid="open-workspace">
      {first && (
        <p className={classes.text}>
          A workspace is a project folder in which servers run, each with its own processes. Agents open theirs when they connect; open one here to see its servers and
          their tools.
        </p>
      )}
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (path !== "") void open(path);
        }}
      >
        <PlainInput label="Folder" placeholder="/home/me/project" className={classes.path} data-testid="workspace-path" value={path} onChange={(event) => setPath(event.currentTarget.value)} />
        <Button type="submit" variant="filled" size="sm" data-testid="workspace-open" disabled={path === ""} loading={busy && path !== ""}>
          Open
        </Button>
        {withoutFolder && (
          <Button size="sm" data-testid="workspace-open-none" disabled={busy} onClick={() => void open(null)}>
            Open without a folder
          </Button>
        )}
      </form>
      {error !== null && <ErrorNotice title="The workspace could not be opened" error={error} testId="workspace-open-error" />}
    </section>
  );
}
