// A workspace's project files: whether they are trusted, and the way to decide.

import { Button } from "@mantine/core";
import { useEffect, useState } from "react";

import { BackendError, describeTrust, owner, revokeTrust, trust, type Answer, type WorkspaceState } from "../../backend";
import { ErrorNotice, Notice } from "../../components/Notice";
import { TrustDialog } from "./TrustDialog";

type Described = Awaited<ReturnType<typeof describeTrust>>;

export function ProjectTrust({ workspace, path }: { workspace: WorkspaceState; path: string }) {
  const [described, setDescribed] = useState<Described | null>(null);
  const [error, setError] = useState<BackendError | null>(null);
  const [asking, setAsking] = useState(false);

  // What the files ask for shows in the project's servers and problems; `asked` counts what was decided here.
  const [asked, setAsked] = useState(0);
  const traces = JSON.stringify([asked, workspace.servers.map((s) => [s.id, s.state === "pending-trust"]), workspace.problems]);
  useEffect(() => {
    let current = true;
    describeTrust(path).then(
      (found) => {
        if (!current) return;
        setDescribed(found);
        setError(null);
      },
      (failure: unknown) => current && setError(BackendError.from(failure)),
    );
    return () => {
      current = false;
    };
  }, [path, traces]);

  async function answer(decision: Answer) {
    if (decision === "allow" && described?.request != null) {
      await trust(path, described.request.digest);
      await owner.refresh();
      setAsked(asked + 1);
    }
    setAsking(false);
  }

  async function revoke() {
    try {
      await revokeTrust(path);
      await owner.refresh();
      setAsked(asked + 1);
    } catch (failure) {
      setError(BackendError.from(failure));
    }
  }

  if (error !== null) return <ErrorNotice title="The project's files could not be read" error={error} onClose={() => setError(null)} />;
  if (described?.request == null) return null;
  const { request, trusted } = described;
  return (
    <>
      {trusted ? (
        <Notice kind="information" title="You trust this project's files" testId="project-trusted" actions={<Button data-testid="trust-revoke" onClick={() => void revoke()}>Take trust back</Button>} />
      ) : (
        <Notice
          kind="attention"
          title={request.changed ? "This project's files have changed since you trusted them" : "This project brings its own servers or rules"}
          testId="project-untrusted"
          actions={<Button data-testid="trust-review" onClick={() => setAsking(true)}>Review…</Button>}
        >
          <p>Nothing of it runs before you allow it.</p>
        </Notice>
      )}
      {asking && <TrustDialog key={request.digest} request={request} onAnswer={answer} onLater={() => setAsking(false)} />}
    </>
  );
}
