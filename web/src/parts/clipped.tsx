// Long text: its beginning, and the rest on demand.
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";

export function Clipped({text, lines, children, more}: {
  text: string; lines: number; children: (text: string) => ComponentChildren; more?: ComponentChildren;
}) {
  const [all, showAll] = useState(false);
  const parts = text.split("\n");
  const cut = !all && parts.length > lines + 2;
  return (
    <>
      {children(cut ? parts.slice(0, lines).join("\n") : text)}
      {cut && <button type="button" class="more" onClick={() => showAll(true)}>{parts.length - lines} more lines</button>}
      {!cut && more}
    </>
  );
}
