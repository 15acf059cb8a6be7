// The window: navigation at the left, one page at the right, questions above all.

import { useHotkeys } from "@mantine/hooks";
import { useEffect, useState } from "react";

import { onShowSettings, owner } from "../../backend";
import { useOwner } from "../../useOwner";
import { AboutPage } from "../about/AboutPage";
import { ServersPage } from "../servers/ServersPage";
import { Questions } from "../trust/Questions";
import { WorkspacesPage } from "../workspaces/WorkspacesPage";
import { NoOwner, OwnerGone } from "./NoOwner";
import { Sidebar, type PageName } from "./Sidebar";
import { LeaveGuard, useLeave } from "./leave";
import classes from "./App.module.css";

export function App() {
  return (
    <LeaveGuard>
      <Frame />
    </LeaveGuard>
  );
}

function Frame() {
  const { snapshot, error, lost } = useOwner();
  const [page, setPage] = useState<PageName>("servers");
  const { leave } = useLeave();
  const go = (to: PageName) => {
    if (to !== page) leave(() => setPage(to));
  };
  useHotkeys([["mod+comma", () => go("servers")]], []);
  useEffect(() => onShowSettings(() => leave(() => setPage("servers"))), [leave]);

  if (lost) return <OwnerGone />;
  if (snapshot === null && error !== null) return <NoOwner error={error} onRetry={() => void owner.refresh()} />;
  return (
    <div className={classes.window}>
      <Sidebar page={page} onGo={go} waiting={snapshot?.questions.length ?? 0} />
      {page === "workspaces" && <WorkspacesPage snapshot={snapshot} />}
      {page === "servers" && <ServersPage snapshot={snapshot} />}
      {page === "about" && <AboutPage snapshot={snapshot} />}
      {snapshot !== null && <Questions questions={snapshot.questions} onGo={() => go("workspaces")} />}
    </div>
  );
}
