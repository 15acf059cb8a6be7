// What stands in the window when there is nothing to show: no owner yet, or none any more.

import { Button } from "@mantine/core";

import type { BackendError } from "../../backend";
import { ErrorNotice } from "../../components/Notice";
import classes from "./NoOwner.module.css";

export function NoOwner({ error, onRetry }: { error: BackendError; onRetry: () => void }) {
  return (
    <main className={classes.whole} data-testid="no-owner">
      <ErrorNotice title="The window could not read Patchbay's state" error={error} actions={<Button onClick={onRetry}>Try again</Button>} />
    </main>
  );
}

export function OwnerGone() {
  return (
    <main className={classes.whole} data-testid="owner-gone">
      <div className={classes.text} role="status">
        <h1 className={classes.title}>Patchbay has ended</h1>
        <p>The process that held the servers is gone, so this window shows nothing any more. Start Patchbay again to go on.</p>
      </div>
    </main>
  );
}
