// The event as it is stored and the agent's own record of it, for whoever does not believe the story.
import {useState} from "preact/hooks";
import {withVisibleControls} from "../model/bidi";
import {detailOf} from "../state/details";

function One({task, sequence}: {task: string; sequence: number}) {
  const detail = detailOf(task, sequence).value;
  if (detail.state === "reading") return <p class="quiet">reading …</p>;
  if (detail.state === "none") return <p class="quiet">{detail.error}</p>;
  return <pre class="raw">{withVisibleControls(JSON.stringify(detail.value, null, 2))}</pre>;
}

export function Raw({task, sequences}: {task: string; sequences: number[]}) {
  const [open, setOpen] = useState(false);
  return (
    <div class="raw-part">
      <button type="button" class="raw-button" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "hide record" : "record"}</button>
      {open && sequences.map((sequence) => <One key={sequence} task={task} sequence={sequence} />)}
    </div>
  );
}
