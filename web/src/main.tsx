import {render} from "preact";
import {App} from "./app";
import "./styles/base.css";
import "./styles/fleet.css";
import "./styles/task.css";
import "./styles/views.css";
import {startFleet, taskRow} from "./state/fleet";
import {startInbox} from "./state/inbox";
import {startKeys} from "./state/keys";
import {followView} from "./state/live";
import {startModel} from "./state/model";
import {startClock} from "./state/now";
import {chatID, taskID, view, watchAddress, type View} from "./state/route";
import {findOutWho} from "./state/session";
import {unknownTask} from "./state/task_view";
import "./state/theme";
import {titleOf} from "./model/fleet_rows";

const kTitles: Record<View, string> = {fleet: "Fleet", task: "Task", metrics: "Metrics", search: "Search", findings: "Findings", new: "New task", chat: "New chat"};

watchAddress();
startClock();
startKeys();
render(<App />, document.body);

if (await findOutWho()) {
  startFleet();
  startModel();
  const shown = () => taskID.value || chatID.value;
  startInbox(() => {
    const task = shown() ? taskRow(shown()) : undefined;
    return `${task ? titleOf(task) : shown() || kTitles[view.value]} · Shepherd`;
  });
  followView(() => (shown() === unknownTask.value ? "" : shown()));
}
