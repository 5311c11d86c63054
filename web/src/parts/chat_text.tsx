// A message's text. The event of a long message has its beginning; the rest is read on demand.
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import type {TaskEvent} from "../api/types";
import {objectOf, textOf} from "../model/shape";
import {useDetail} from "../state/details";
import {Clipped} from "./clipped";

export function ChatText({task, event, rows, children}: {task: string; event: TaskEvent; rows: number; children: (text: string) => ComponentChildren}) {
  const [wanted, want] = useState(false);
  const cut = objectOf(event.data)?.["contentCut"] === true;
  const {detail, retry} = useDetail(task, event.sequence, cut && wanted);
  const whole = detail.state === "there" ? textOf(detail.value, "content") : "";
  const short = textOf(event.data, "content");
  if (!cut) return <Clipped text={short} rows={rows}>{children}</Clipped>;
  if (whole) return <Clipped key="whole" text={whole} rows={rows}>{children}</Clipped>;
  const more = detail.state === "failed" ? <p class="clipped"><span class="bad" role="alert">{detail.error}</span> <button type="button" class="more" onClick={retry}>try again</button></p>
    : detail.state === "none" || detail.state === "there" ? <p class="clipped quiet">Nothing more is kept of this message.</p>
      : <p class="clipped"><span class="quiet">only the beginning is shown</span> <button type="button" class="more" disabled={wanted} onClick={() => want(true)}>{wanted ? "reading …" : "read the rest"}</button></p>;
  return <Clipped text={short} rows={rows} more={more}>{children}</Clipped>;
}
