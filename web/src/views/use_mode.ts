// Whether an agent asks or decides by itself: its mode at the start, until a command changed it.
import {api} from "../api/client";
import type {Task} from "../api/types";
import {textOf} from "../model/shape";
import {useResource} from "../state/resource";
import type {TaskView} from "../state/task_view";

export function useMode(view: TaskView, task: Task): string {
  const changed = task.commands?.filter((each) => each.kind === "set_mode" && each.state === "acknowledged").pop()?.sequence ?? 0;
  const event = changed > 0 ? view.log.at(changed) : undefined;
  const read = useResource(changed === 0 || event ? null : `${view.id}/${changed}`, (signal) => api.event(view.id, changed, signal)).state.value.value;
  const started = (task as Record<string, unknown>)["mode"];
  if (changed > 0) return event ? textOf(event.data, "mode") : read?.sequence === changed ? textOf(read.data, "mode") : "";
  return typeof started === "string" ? started : "";
}
