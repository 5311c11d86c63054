// Chooses the view. The metrics view with its chart library and the chat view load on first use.
import type {ComponentType} from "preact";
import {useEffect, useState} from "preact/hooks";
import {Guard} from "./parts/guard";
import {Notice} from "./parts/notice";
import {params, taskID, view} from "./state/route";
import {loggedOut, me, startError} from "./state/session";
import {Fleet} from "./views/fleet";
import {Findings} from "./views/findings";
import {Help} from "./views/help";
import {CannotStart, Login} from "./views/login";
import {NewTask} from "./views/new_task";
import {Search} from "./views/search";
import {Shell} from "./views/shell";
import {TaskPage} from "./views/task";

const kMetrics = () => import("./views/metrics").then((module) => module.Metrics);
const kChat = () => import("./views/chat").then((module) => module.Chat);

function Lazy({load, failed}: {load: () => Promise<ComponentType>; failed: string}) {
  const [Loaded, setLoaded] = useState<{view: ComponentType} | null>(null);
  const [error, setError] = useState("");
  useEffect(() => { load().then((found) => setLoaded({view: found}), () => setError("Load the page again.")); }, [load]);
  if (error) return <Notice title={failed}>{error}</Notice>;
  return Loaded ? <Loaded.view /> : <Notice title="Loading …" busy />;
}

function Current() {
  switch (view.value) {
    case "task": return <TaskPage key={taskID.value} />;
    case "metrics": return <Lazy key="metrics" load={kMetrics} failed="The charts could not be loaded" />;
    case "chat": return <Lazy key="chat" load={kChat} failed="The chat could not be loaded" />;
    case "search": return <Search />;
    case "findings": return <Findings />;
    case "new": return <NewTask />;
    default: return <Fleet />;
  }
}

// Another address gets another chance after a failure.
function Guarded() {
  return <Guard key={view.value} what="view" record={params.value.toString()}><Current /></Guard>;
}

export function App() {
  if (loggedOut.value) return <Login />;
  if (!me.value) return startError.value ? <CannotStart /> : <Notice title="Shepherd" busy />;
  return <><Shell><Guarded /></Shell><Help /></>;
}
