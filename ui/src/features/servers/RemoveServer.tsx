// Asks before a server is removed.

import { owner, removeMcpServer } from "../../backend";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ExactText } from "../../components/ExactText";

interface Props {
  name: string;
  /** The file as the person sees it. */
  revision: string;
  onClose: () => void;
}

export function RemoveServer({ name, revision, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Remove this server?"
      action="Remove"
      onConfirm={async () => {
        await removeMcpServer(revision, name);
        await owner.refresh();
      }}
      onClose={onClose}
    >
      <p>
        <strong>
          <ExactText text={name} />
        </strong>{" "}
        stops in every workspace, and its entry leaves the settings file. A sign-in to it is kept, so that you need not sign in again when you add it back.
      </p>
    </ConfirmDialog>
  );
}
