// The last lines that a server wrote to its standard error.

import { useEffect, useRef, useState } from "react";

import { BackendError, serverLog, type ServerId, type ServerStatus } from "../../backend";
import { ExactText } from "../../components/ExactText";
import { ErrorNotice } from "../../components/Notice";
import { writtenOut } from "../../text/suspicious";
import classes from "./ServerLog.module.css";

interface Props {
  workspace: string;
  server: ServerStatus;
}

export function ServerLog({ workspace, server }: Props) {
  const [lines, setLines] = useState<readonly string[] | null>(null);
  const [error, setError] = useState<BackendError | null>(null);
  const end = useRef<HTMLDivElement>(null);

  // The status carries the newest few lines: when they change, there is more to fetch.
  const newest = JSON.stringify(server.logTail);
  // By its content: every snapshot makes a new object of it.
  const id = JSON.stringify(server.id);
  useEffect(() => {
    let current = true;
    serverLog(workspace, JSON.parse(id) as ServerId).then(
      (fetched) => {
        if (!current) return;
        setLines(fetched);
        setError(null);
      },
      (failure: unknown) => current && setError(BackendError.from(failure)),
    );
    return () => {
      current = false;
    };
  }, [workspace, id, newest]);

  useEffect(() => {
    end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [lines]);

  if (error !== null) return <ErrorNotice title="The log could not be read" error={error} />;
  return (
    <div ref={end} className={classes.log} data-testid="server-log" tabIndex={0} role="log" aria-label={`Log of ${writtenOut(server.id.name)}`}>
      {lines === null && " "}
      {lines?.length === 0 && <span className={classes.none}>Nothing written yet.</span>}
      {lines?.map((line, at) => (
        <div key={at}>
          <ExactText text={line === "" ? " " : line} breaks />
        </div>
      ))}
    </div>
  );
}
