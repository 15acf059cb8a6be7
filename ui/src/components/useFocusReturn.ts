// Gives the keyboard back to where it was when a dialog goes, or to the page where that is gone.

import { useEffect, useState } from "react";

export function useFocusReturn() {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const there = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      (there ? opener : document.querySelector<HTMLElement>("main h1"))?.focus();
    },
    [opener],
  );
}
