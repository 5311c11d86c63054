// Whether an agent asks or decides by itself: its mode at the start, until a command changed it.
import {useEffect, useState} from "preact/hooks";
import {api} from "../api/client";
import type {Task} from "../api/types";
import {textOf} from "../model/shape";
import type {TaskView} from "../state/task_view";

export function useMode(view: TaskView, task: Task): string {
  const [read, setRead] = useState<{sequence: number; mode: string}>({sequence: 0, mode: ""});
  const changed = task.commands?.filter((each) => each.kind === "set_mode" && each.state === "acknowledged").pop()?.sequence ?? 0;
  const event = changed > 0 ? view.log.at(changed) : undefined;
  useEffect(() => {
    if (changed === 0 || event) return;
    let given = true;
    api.event(view.id, changed).then(
      (found) => { if (given) setRead({sequence: changed, mode: textOf(found.data, "mode")}); }, () => {});
    return () => { given = false; };
  }, [view, changed, event === undefined]);
  const started = (task as Record<string, unknown>)["mode"];
  if (changed > 0) return event ? textOf(event.data, "mode") : read.sequence === changed ? read.mode : "";
  return typeof started === "string" ? started : "";
}
