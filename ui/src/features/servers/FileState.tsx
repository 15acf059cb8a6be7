// The file that the global servers are kept in, and what is wrong with it.

import type { ConfigState } from "../../backend";
import { ExactText } from "../../components/ExactText";
import { Notice, PlaceText } from "../../components/Notice";
import classes from "./FileState.module.css";

export function FileState({ config }: { config: ConfigState }) {
  const { broken, warnings, file } = config;
  return (
    <>
      <p className={classes.file}>
        Kept in{" "}
        <span className={classes.path} data-testid="config-file">
          <ExactText text={file} />
        </span>
        . Every workspace has these servers.
      </p>
      {broken !== null && (
        <Notice kind="failure" title="The settings file cannot be used as it is" testId="config-broken">
          <p>
            <ExactText text={broken.reason} breaks />
          </p>
          <PlaceText place={broken.place} />
          <p>The last good settings stay in force. Correct the file in an editor; it is read again as soon as it is saved.</p>
        </Notice>
      )}
      {warnings.length > 0 && (
        <Notice kind="attention" title={warnings.length === 1 ? "Something in the file is odd" : "Some things in the file are odd"} testId="config-warnings">
          <ul className={classes.warnings}>
            {warnings.map((warning) => (
              <li key={warning}>
                <ExactText text={warning} breaks />
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}
