// One server of a project as the trust question shows it: all of it, item by item.

import type { ReactNode } from "react";

import type { Leak, TrustServer } from "../../backend";
import { TransportBadge } from "../../components/Badge";
import { ExactText } from "../../components/ExactText";
import classes from "./TrustServerDetails.module.css";

export function TrustServerDetails({ server }: { server: TrustServer }) {
  const program = server.transport === "stdio";
  return (
    <section className={classes.server} data-testid="trust-server">
      <h3 className={classes.head}>
        <ExactText text={server.name} />
        <TransportBadge transport={server.transport} />
        <span className={classes.file}>
          in <ExactText text={server.file} />
        </span>
      </h3>
      <Warnings server={server} />
      <dl className={classes.rows}>
        <Row name={program ? "Runs" : "Connects to"}>
          <ol className={program ? classes.command : undefined} data-testid="trust-command">
            {server.command.map((part, at) => (
              <li key={at}>
                {program && <span className={classes.number}>{at === 0 ? "program" : at}</span>}
                <span className={classes.part}>
                  <ExactText text={part} />
                </span>
              </li>
            ))}
          </ol>
        </Row>
        {server.cwd !== null && (
          <Row name="In folder">
            <ExactText text={server.cwd} />
          </Row>
        )}
        <Pairs name="Sets" separator="=" pairs={server.env} />
        <Pairs name="Sends" separator=": " pairs={server.headers} />
      </dl>
    </section>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.row}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Pairs({ name, separator, pairs }: { name: string; separator: string; pairs: readonly [string, string][] }) {
  if (pairs.length === 0) return null;
  return (
    <Row name={name}>
      <ul>
        {pairs.map(([key, value], at) => (
          <li key={at}>
            <ExactText text={key} />
            {separator}
            <ExactText text={value} />
          </li>
        ))}
      </ul>
    </Row>
  );
}

function Warnings({ server }: { server: TrustServer }) {
  const { unsandboxed, leaks, loaders, suspicious } = server;
  if (!unsandboxed && leaks.length === 0 && loaders.length === 0 && suspicious.length === 0) return null;
  return (
    <ul className={classes.warnings} data-testid="trust-warnings">
      {unsandboxed && <li>Asks to run outside the sandbox. Patchbay does not take that from a project.</li>}
      {leaks.map((leak, at) => (
        <li key={at}>
          <LeakText leak={leak} />
        </li>
      ))}
      {loaders.map((name) => (
        <li key={name}>
          <ExactText text={name} /> makes programs load other code.
        </li>
      ))}
      {suspicious.map((text) => (
        <li key={text}>
          <ExactText text={text} />
        </li>
      ))}
    </ul>
  );
}

function LeakText({ leak }: { leak: Leak }) {
  return (
    <>
      Your <ExactText text={leak.name} /> would be given to <ExactText text={leak.to} />, by <ExactText text={leak.field} />.
    </>
  );
}
