// Which fields a person has left: only their problems are shown before the first try to save.

import { useCallback, useEffect, useRef, useState } from "react";

import type { Field } from "./validate";

export function useTouched() {
  const [touched, setTouched] = useState<ReadonlySet<Field>>(new Set());
  const pressed = useRef(false);
  const left = useRef<Field[]>([]);

  const flush = useCallback(() => {
    const fields = left.current.splice(0);
    if (fields.length > 0) setTouched((old) => new Set([...old, ...fields]));
  }, []);

  // A press of the mouse takes the field's focus before it becomes a click. What it reveals moves the page, so it waits
  // until the click has reached what it was aimed at.
  useEffect(() => {
    const down = () => {
      pressed.current = true;
    };
    const up = () => {
      pressed.current = false;
      setTimeout(flush);
    };
    window.addEventListener("pointerdown", down, true);
    window.addEventListener("pointerup", up, true);
    window.addEventListener("pointercancel", up, true);
    return () => {
      window.removeEventListener("pointerdown", down, true);
      window.removeEventListener("pointerup", up, true);
      window.removeEventListener("pointercancel", up, true);
    };
  }, [flush]);

  const touch = useCallback(
    (field: Field) => {
      left.current.push(field);
      if (!pressed.current) flush();
    },
    [flush],
  );
  return { touched, touch };
}
