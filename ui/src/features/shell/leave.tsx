// Guards what a person has typed: leaving a changed form asks first.

import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { ConfirmDialog } from "../../components/ConfirmDialog";

interface Leave {
  /** Goes on at once, or after the person has agreed to lose the changes. */
  leave: (go: () => void) => void;
  setChanged: (changed: boolean) => void;
}

const Context = createContext<Leave>({ leave: (go) => go(), setChanged: () => undefined });

export function LeaveGuard({ children }: { children: ReactNode }) {
  const changed = useRef(false);
  const [pending, setPending] = useState<{ go: () => void } | null>(null);
  const leave = useMemo<Leave>(
    () => ({
      leave: (go) => (changed.current ? setPending({ go }) : go()),
      setChanged: (value) => {
        changed.current = value;
      },
    }),
    [],
  );
  return (
    <Context.Provider value={leave}>
      {children}
      {pending !== null && (
        <ConfirmDialog title="Leave without saving?" action="Discard changes" keep="Keep editing" onConfirm={pending.go} onClose={() => setPending(null)}>
          <p>What you changed in this form has not been saved.</p>
        </ConfirmDialog>
      )}
    </Context.Provider>
  );
}

export function useLeave(): Leave {
  return useContext(Context);
}

/** Tells the guard about a form for as long as it is shown. */
export function useGuard(changed: boolean) {
  const { setChanged } = useLeave();
  useEffect(() => {
    setChanged(changed);
    return () => setChanged(false);
  }, [changed, setChanged]);
}
