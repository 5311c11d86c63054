// The event as it is stored and the agent's own record of it, for whoever does not believe the story.
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import {withVisibleControls} from "../model/bidi";
import {detailOf} from "../state/details";

function One({task, sequence}: {task: string; sequence: number}) {
  const detail = detailOf(task, sequence).value;
  if (detail.state === "reading") return <p class="quiet">reading …</p>;
  if (detail.state === "none") return <p class="quiet">{detail.error}</p>;
  return <pre class="raw">{withVisibleControls(JSON.stringify(detail.value, null, 2))}</pre>;
}

// A card's record: the button stands in its header, the record at its end.
export function useRecord(task: string, sequences: number[]): {button: ComponentChildren; record: ComponentChildren} {
  const [open, setOpen] = useState(false);
  return {
    button: <button type="button" class="raw-button" aria-expanded={open} aria-label={open ? "hide record" : "record"} title={open ? "hide record" : "record"} onClick={() => setOpen(!open)}>{"{ }"}</button>,
    record: open && sequences.map((sequence) => <One key={sequence} task={task} sequence={sequence} />),
  };
}
