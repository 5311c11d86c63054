// The stored event and the agent's own record of it, to verify the story.
import type {ComponentChildren} from "preact";
import {useMemo, useState} from "preact/hooks";
import {useDetail} from "../state/details";
import {Clipped, kManyRows} from "./clipped";
import {Exact} from "./text";

function One({task, sequence}: {task: string; sequence: number}) {
  const {detail, retry} = useDetail(task, sequence, true);
  const text = useMemo(() => JSON.stringify(detail.value, null, 2), [detail]);
  if (detail.state === "there") return <Clipped text={text} rows={kManyRows}>{(part) => <pre class="raw"><Exact text={part} /></pre>}</Clipped>;
  if (detail.state === "failed") return <p><span class="bad" role="alert">{detail.error}</span> <button type="button" class="more" onClick={retry}>try again</button></p>;
  return <p class="quiet">{detail.state === "none" ? detail.error : "reading …"}</p>;
}

// For events that lack something their record has.
export function RestInRecord({task, sequence}: {task: string; sequence: number}) {
  const [open, setOpen] = useState(false);
  if (open) return <One task={task} sequence={sequence} />;
  return <p class="clipped"><span class="quiet">Not all of this event is shown.</span> <button type="button" class="more" onClick={() => setOpen(true)}>show its record</button></p>;
}

// A card's record: the button goes into the card's header, the record to its end.
export function useRecord(task: string, sequences: number[]): {button: ComponentChildren; record: ComponentChildren} {
  const [open, setOpen] = useState(false);
  return {
    button: <button type="button" class="raw-button" aria-expanded={open} aria-label={open ? "hide record" : "record"} title={open ? "hide record" : "record"} onClick={() => setOpen(!open)}>{"{ }"}</button>,
    record: open && sequences.map((sequence) => <One key={sequence} task={task} sequence={sequence} />),
  };
}
