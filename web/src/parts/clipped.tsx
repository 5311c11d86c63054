// The beginning of a long text, and the rest on demand in steps that a browser can render.
import type {ComponentChildren} from "preact";
import {useMemo, useState} from "preact/hooks";
import {excerpt} from "../model/excerpt";

export const kManyRows = 3000;
const kGrow = 20;

const number = (value: number) => value.toLocaleString("en-US");

export function Clipped({text, rows, children, more}: {
  text: string; rows: number; children: (text: string) => ComponentChildren;
  more?: ComponentChildren;  // shown below the text once all of it is there
}) {
  const [room, setRoom] = useState(rows);
  const part = useMemo(() => {
    const all = excerpt(text, room + 2);  // two more rows take no more space than the button
    return all.whole ? all : excerpt(text, room);
  }, [text, room]);
  const next = room < kManyRows ? kManyRows : room * kGrow;
  return (
    <>
      {children(part.text)}
      {!part.whole && (
        <p class="clipped">
          <span class="quiet number">{part.lines > part.shownLines ? `${number(part.lines)} lines, ${number(part.shownLines)} shown` : `${number(text.length)} characters, ${number(part.text.length)} shown`}</span>{" "}
          <button type="button" class="more" onClick={() => setRoom(next)}>{part.lines <= next ? "show all of it" : "show more"}</button>
        </p>)}
      {part.whole && more}
    </>
  );
}
