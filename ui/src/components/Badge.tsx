// A short word in a frame: a transport, a scope.

import type { TransportKind } from "../backend";
import classes from "./Badge.module.css";

const TRANSPORTS: Record<TransportKind, [string, string]> = {
  stdio: ["stdio", "A program on this computer"],
  http: ["HTTP", "A web address"],
  sse: ["SSE", "A web address that speaks the old protocol of server-sent events"],
};

export function Badge({ children, title }: { children: string; title?: string }) {
  return (
    <span className={classes.badge} title={title}>
      {children}
    </span>
  );
}

export function TransportBadge({ transport }: { transport: TransportKind | null }) {
  if (transport === null) return null;
  const [word, meaning] = TRANSPORTS[transport];
  return <Badge title={meaning}>{word}</Badge>;
}
