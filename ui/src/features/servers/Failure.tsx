// Why the owner did not save, and the way on.

import { Button } from "@mantine/core";

import type { BackendError } from "../../backend";
import { ErrorNotice, Notice } from "../../components/Notice";

interface Props {
  title: string;
  failure: BackendError;
  onReload: (keepMine: boolean) => void;
}

export function Failure({ title, failure, onReload }: Props) {
  if (failure.code !== "CONFLICT") return <ErrorNotice title={title} error={failure} testId="form-failure" />;
  const actions = (
    <>
      <Button data-testid="conflict-reload" onClick={() => onReload(true)}>
        Reload, keep my changes
      </Button>
      <Button data-testid="conflict-discard" onClick={() => onReload(false)}>
        Reload, drop them
      </Button>
    </>
  );
  return (
    <Notice kind="attention" title="Nothing was saved: this server was changed elsewhere" testId="form-conflict" actions={actions}>
      <p>Somebody else, or an editor, changed it after this form was opened. Reload to see the newest settings before you save.</p>
    </Notice>
  );
}
