// The owner's state in components.

import { useSyncExternalStore } from "react";

import { owner, type OwnerState } from "./backend";

export function useOwner(): OwnerState {
  return useSyncExternalStore(owner.subscribe, owner.get);
}
