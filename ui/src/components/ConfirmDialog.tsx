// A question before something that cannot be taken back. Its default is not to do it.

import { Button, Modal } from "@mantine/core";
import { useState, type ReactNode } from "react";

import { BackendError } from "../backend";
import { ErrorNotice } from "./Notice";
import { useFocusReturn } from "./useFocusReturn";
import classes from "./ConfirmDialog.module.css";

interface Props {
  title: string;
  children: ReactNode;
  /** What is done, as the button says it. */
  action: string;
  /** What is kept, as the other button says it. */
  keep?: string;
  /** Does it; the dialog closes afterwards and shows what failed. */
  onConfirm: () => Promise<void> | void;
  onClose: () => void;
}

export function ConfirmDialog({ title, children, action, keep = "Cancel", onConfirm, onClose }: Props) {
  useFocusReturn();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<BackendError | null>(null);

  async function confirm() {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(BackendError.from(failure));
      setBusy(false);
    }
  }

  return (
    <Modal opened onClose={onClose} title={title} size="md" withCloseButton={false}>
      <div className={classes.body} data-testid="confirm-dialog">
        {children}
        {error !== null && <ErrorNotice title="That did not work" error={error} />}
        <div className={classes.buttons}>
          <Button data-autofocus data-testid="confirm-cancel" onClick={onClose}>
            {keep}
          </Button>
          <Button className={classes.danger} data-testid="confirm-action" loading={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
