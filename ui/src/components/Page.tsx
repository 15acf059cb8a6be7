// The frame of a page: a heading with its actions, a body that scrolls, and a foot that stays.

import type { ReactNode } from "react";

import { ExactText } from "./ExactText";
import classes from "./Page.module.css";

interface Props {
  title: string;
  /** Where it stands, such as the section. */
  above?: ReactNode;
  actions?: ReactNode;
  foot?: ReactNode;
  children: ReactNode;
  testId: string;
}

export function Page({ title, above, actions, foot, children, testId }: Props) {
  return (
    <main className={classes.page} data-testid={testId}>
      <div className={classes.frame}>
        <header className={classes.head}>
          <div className={classes.titles}>
            {above !== undefined && <div className={classes.above}>{above}</div>}
            <h1 className={classes.title} tabIndex={-1}>
              <ExactText text={title} />
            </h1>
          </div>
          {actions !== undefined && <div className={classes.actions}>{actions}</div>}
        </header>
      </div>
      <div className={classes.body}>
        <div className={classes.column}>{children}</div>
      </div>
      {foot !== undefined && <footer className={`${classes.frame} ${classes.foot}`}>{foot}</footer>}
    </main>
  );
}
