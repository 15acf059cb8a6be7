// The first run: what a server is, and two ways to one.

import { Button } from "@mantine/core";
import { useState } from "react";

import { BackendError, addSampleServer, owner } from "../../backend";
import classes from "./FirstServer.module.css";

/** The button that adds a server, wherever the page has it. */
export const ADD_ID = "add-server";

interface Props {
  onAdd: () => void;
  onFailure: (failure: { title: string; error: BackendError }) => void;
}

export function FirstServer({ onAdd, onFailure }: Props) {
  const [busy, setBusy] = useState(false);

  async function sample() {
    setBusy(true);
    try {
      await addSampleServer();
      await owner.refresh();
    } catch (error) {
      onFailure({ title: "The sample server could not be added", error: BackendError.from(error) });
      setBusy(false);
    }
  }

  return (
    <section className={classes.first} data-testid="first-run">
      <Cords />
      <h2 className={classes.title}>Plug in your first server</h2>
      <p className={classes.text}>
        An MCP server gives coding agents tools: to search your issues, read a database, drive a browser. Add one here once, and every agent on this computer can use it
        through Patchbay.
      </p>
      <div className={classes.buttons}>
        <Button id={ADD_ID} variant="filled" size="sm" data-testid="add-server" onClick={onAdd}>
          Add server
        </Button>
        <Button size="sm" data-testid="try-sample" loading={busy} onClick={() => void sample()}>
          Try the sample server
        </Button>
      </div>
      <p className={classes.note}>The sample is small, comes with Patchbay, and has a few harmless tools.</p>
    </section>
  );
}

/** A row of sockets, one of them in use. */
function Cords() {
  const sockets = [30, 70, 110, 150, 190];
  return (
    <svg className={classes.cords} viewBox="0 0 220 84" aria-hidden="true">
      {sockets.flatMap((x) => [18, 66].map((y) => <circle key={`${x} ${y}`} cx={x} cy={y} r="8" fill="none" stroke="var(--pb-line-strong)" strokeWidth="1.5" />))}
      <path d="M70 18C70 58 150 26 150 66" fill="none" stroke="var(--pb-accent-text)" strokeWidth="4" strokeLinecap="round" />
      <circle cx="70" cy="18" r="5" fill="var(--pb-accent-text)" />
      <circle cx="150" cy="66" r="5" fill="var(--pb-accent-text)" />
    </svg>
  );
}
