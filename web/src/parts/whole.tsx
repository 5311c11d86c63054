// A text that is cut in the log and complete in the event's detail. It is read on demand.
import type {ComponentChildren} from "preact";
import {useMemo, useState} from "preact/hooks";
import type {TaskEvent} from "../api/types";
import {excerpt} from "../model/excerpt";
import {countOf, cutFrom, isCut, wholeOf} from "../model/shape";
import {useDetail} from "../state/details";
import {Clipped, kManyRows} from "./clipped";

export function LongText({task, event, what, short, rows, children}: {
  task: string; event: TaskEvent; what: "text" | "output" | "summary"; short: string; rows: number; children: (text: string) => ComponentChildren;
}) {
  const cut = isCut(event, what, short);
  const [wanted, want] = useState(false);
  const {detail, retry} = useDetail(task, event.sequence, cut && wanted);
  const whole = useMemo(() => (detail.state === "there" ? wholeOf(detail.value, what).replace(/\n+$/, "") : ""), [detail, what]);
  const beginning = useMemo(() => excerpt(short, rows).text, [short, rows]);
  if (!cut) return <Clipped text={short} rows={rows}>{children}</Clipped>;
  if (whole) {
    const bytes = detail.value["truncated"] === true ? countOf(detail.value, "bytes") : 0;
    return <Clipped key="whole" text={whole} rows={kManyRows} more={bytes > 0 && <p class="clipped quiet">The server kept the beginning of {bytes.toLocaleString("en-US")} bytes.</p>}>{children}</Clipped>;
  }
  if (detail.state === "none" || detail.state === "there") return <Clipped text={short} rows={rows} more={<p class="clipped quiet">Nothing more is kept of this event.</p>}>{children}</Clipped>;
  const size = cutFrom(event, what);
  return (
    <>
      {children(beginning)}
      <p class="clipped">
        <span class="quiet number">{size === undefined ? "only the beginning is shown" : `${size.toLocaleString("en-US")} characters, ${beginning.length.toLocaleString("en-US")} shown`}</span>{" "}
        {detail.state === "failed" ? <><span class="bad" role="alert">{detail.error}</span> <button type="button" class="more" onClick={retry}>try again</button></>
          : <button type="button" class="more" disabled={wanted} onClick={() => want(true)}>{wanted ? "reading …" : "show all of it"}</button>}
      </p>
    </>
  );
}
