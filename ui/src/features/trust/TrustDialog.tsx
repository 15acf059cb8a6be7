// Asks whether a project's files may run what they name. Everything is shown and nothing is cut; the default is no.

import { Button, Modal } from "@mantine/core";
import { useEffect, useState } from "react";

import { BackendError, type Answer, type TrustRequest } from "../../backend";
import { ExactText } from "../../components/ExactText";
import { ErrorNotice, Notice } from "../../components/Notice";
import { useFocusReturn } from "../../components/useFocusReturn";
import { TrustServerDetails } from "./TrustServerDetails";
import classes from "./TrustDialog.module.css";

/** For so long after it opens, a click on *Allow* counts as meant for what stood there before. */
const SETTLE_MS = 500;

interface Props {
  request: TrustRequest;
  onAnswer: (answer: Answer) => Promise<void>;
  /** Closes it without an answer. */
  onLater: () => void;
}

export function TrustDialog({ request, onAnswer, onLater }: Props) {
  useFocusReturn();
  const settled = useSettled();
  const [busy, setBusy] = useState<Answer | null>(null);
  const [error, setError] = useState<BackendError | null>(null);

  async function answer(decision: Answer) {
    setBusy(decision);
    setError(null);
    try {
      await onAnswer(decision);
    } catch (failure) {
      setError(BackendError.from(failure));
    }
    setBusy(null);
  }

  return (
    <Modal opened onClose={onLater} title="Trust this project?" size={820} withCloseButton={false} closeOnClickOutside={false} classNames={{ content: classes.content, body: classes.body, title: classes.title }}>
      <div className={classes.scroll} data-testid="trust-dialog" tabIndex={0} role="group" aria-label="What would run">
        <Content request={request} />
      </div>
      {error !== null && <ErrorNotice title="The answer could not be given" error={error} />}
      <div className={classes.foot}>
        <p className={classes.note}>Your answer holds for exactly this content at this place. A change asks again.</p>
        <Button variant="subtle" data-testid="trust-later" onClick={onLater}>
          Decide later
        </Button>
        <Button data-testid="trust-allow" disabled={!settled || busy === "deny"} loading={busy === "allow"} onClick={() => void answer("allow")}>
          Allow
        </Button>
        <Button variant="filled" data-autofocus data-testid="trust-deny" disabled={busy === "allow"} loading={busy === "deny"} onClick={() => void answer("deny")}>
          Don’t allow
        </Button>
      </div>
    </Modal>
  );
}

function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}

function Content({ request }: { request: TrustRequest }) {
  const { path, files, servers, allow, writablePaths, changed, digest } = request;
  return (
    <>
      <p className={classes.path} data-testid="trust-path">
        <ExactText text={path} />
      </p>
      {changed && (
        <Notice kind="attention" title="This project has changed since you trusted it" testId="trust-changed">
          <p>Look at everything again: what you allowed before is not what stands there now.</p>
        </Notice>
      )}
      <p>{summary(servers.length, allow.length, writablePaths.length)} Allow it only if you know where these files come from. Nothing starts before a tool is asked for.</p>
      {servers.map((server) => (
        <TrustServerDetails key={`${server.file} ${server.name}`} server={server} />
      ))}
      <Items title="Calls that would be allowed without asking" items={allow} />
      <Items title="Folders that sandboxed servers could write" items={writablePaths} />
      <Items title="Files that this comes from" items={files} />
      <p className={classes.digest}>
        Fingerprint <ExactText text={digest} />
      </p>
    </>
  );
}

function summary(servers: number, rules: number, folders: number): string {
  const parts = [
    servers > 0 ? `${servers === 1 ? "one server" : `${servers} servers`}` : "",
    rules > 0 ? `${rules === 1 ? "one rule" : `${rules} rules`} that allow${rules === 1 ? "s" : ""} calls` : "",
    folders > 0 ? `${folders === 1 ? "one more folder" : `${folders} more folders`} to write to` : "",
  ].filter((part) => part !== "");
  return `Its files ask for ${parts.join(", ") || "nothing that needs trust"}.`;
}

function Items({ title, items }: { title: string; items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <section>
      <h3 className={classes.heading}>{title}</h3>
      <ul className={classes.items}>
        {items.map((item) => (
          <li key={item}>
            <ExactText text={item} />
          </li>
        ))}
      </ul>
    </section>
  );
}
