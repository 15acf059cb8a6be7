// The window's few pages, and how light it is.

import { ThemeSwitch } from "./ThemeSwitch";
import classes from "./Sidebar.module.css";

export type PageName = "workspaces" | "servers" | "about";

interface Props {
  page: PageName;
  onGo: (page: PageName) => void;
  /** Number of questions that wait for an answer. */
  waiting: number;
}

export function Sidebar({ page, onGo, waiting }: Props) {
  const item = (name: PageName, label: string, count = 0) => (
    <li>
      <button type="button" className={classes.item} aria-current={page === name ? "page" : undefined} data-testid={`nav-${name}`} onClick={() => onGo(name)}>
        <span>{label}</span>
        {count > 0 && (
          <span className={classes.count} aria-label={`${count} waiting`}>
            {count}
          </span>
        )}
      </button>
    </li>
  );
  return (
    <nav className={classes.sidebar} aria-label="Pages">
      <div className={classes.brand}>
        <Mark />
        Patchbay
      </div>
      <ul className={classes.list}>{item("workspaces", "Workspaces", waiting)}</ul>
      <h2 className={classes.section}>Settings</h2>
      <ul className={classes.list}>{item("servers", "MCP servers")}</ul>
      <ul className={classes.last}>{item("about", "About")}</ul>
      <ThemeSwitch />
    </nav>
  );
}

/** Two sockets and a cord between them. */
function Mark() {
  return (
    <svg className={classes.mark} viewBox="0 0 24 24" aria-hidden="true">
      <rect x="1" y="1" width="22" height="22" rx="6" fill="var(--pb-accent)" />
      <path d="M7.5 8.5c0 9 9 -2 9 7" fill="none" stroke="#fff" strokeWidth="2" strokeLinecap="round" />
      <circle cx="7.5" cy="7.5" r="2.6" fill="none" stroke="#fff" strokeWidth="1.8" />
      <circle cx="16.5" cy="16.5" r="2.6" fill="none" stroke="#fff" strokeWidth="1.8" />
    </svg>
  );
}
