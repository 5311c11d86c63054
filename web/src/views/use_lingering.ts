// The approvals of a task that are shown as open. Checks each second whether the person still points at a settled one.
import {useMemo} from "preact/hooks";
import {Lingering} from "../model/lingering";
import {now} from "../state/now";
import type {TaskView} from "../state/task_view";

// `placeOf` is the selector of the element that shows an approval.
export function useLingering(view: TaskView, placeOf: (approvalID: string) => string): Lingering {
  const lingering = useMemo(() => new Lingering(), [view]);
  const open = (view.task.value?.approvals ?? []).map((each) => each.approvalID ?? "");
  lingering.look(open, Math.max(now.peek(), Date.now()), (id) =>
    document.querySelector(`${placeOf(id)} .needs-you:is(:hover, :has(:focus-visible))`) !== null);
  if (lingering.size > 0) void now.value;
  return lingering;
}
