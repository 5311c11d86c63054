// Lists tasks and follows one. Everything an agent wrote is put into text nodes, never into markup.
"use strict";

const byId = (id) => document.getElementById(id);
const kMostLines = 2000;  // of a log on the page; older ones stay in the store
const kRefreshMs = 4000;
let chosen = null;  // {id, socket, last, done, retryMs}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

async function load(path) {
  const answer = await fetch(path);
  if (answer.status === 401) {
    byId("tower").hidden = true;
    byId("login").hidden = false;
    throw new Error("not logged in");
  }
  if (!answer.ok) throw new Error("the server answered " + answer.status);
  return answer.json();
}

function nameOf(task) {
  const description = (task.task && task.task.description) || "";
  return task.title || description.split("\n")[0] || task.id;
}

function showTasks(tasks) {
  byId("none").hidden = tasks.length > 0;
  byId("tasks").replaceChildren(...tasks.map((task) => {
    const button = element("button");
    button.type = "button";
    button.setAttribute("aria-current", String(chosen !== null && chosen.id === task.id));
    button.append(element("span", "name", nameOf(task)), element("span", "status", task.status.state));
    button.addEventListener("click", () => choose(task));
    const item = element("li");
    item.append(button);
    return item;
  }));
}

async function refresh() {
  try {
    showTasks(await load("/api/v1/tasks?limit=200"));
    if (chosen === null) byId("connection").textContent = "";
  } catch (error) {
    byId("connection").textContent = error.message;
  }
}

function addLine(event) {
  const log = byId("log");
  const pane = log.parentElement;
  const atEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;
  const line = element("li", event.type === "error" ? "error" : "");
  line.append(element("time", "when", new Date(event.timestamp).toLocaleTimeString()),
              element("span", "kind", event.type), element("span", "text", event.summary));
  log.append(line);
  while (log.childElementCount > kMostLines) log.firstElementChild.remove();
  if (atEnd) pane.scrollTop = pane.scrollHeight;
}

function take(message) {
  if (message.type === "task_event") {
    chosen.last = message.data.sequence;
    addLine(message.data);
  } else if (message.type === "gap") {
    chosen.last = message.data.to;
    addLine({type: "gap", timestamp: Date.now(), summary: `Events ${message.data.from} to ${message.data.to} are no longer kept.`});
  } else if (message.type === "task_complete") {
    chosen.done = true;
    byId("state").textContent = [message.data.status, message.data.prURL, message.data.error].filter(Boolean).join(" · ");
    refresh();
  }
}

function follow(watch) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const from = watch.last === null ? "tail=" + kMostLines : "after=" + watch.last;
  const socket = new WebSocket(`${scheme}//${location.host}/api/v1/tasks/${watch.id}/events?${from}`);
  watch.socket = socket;
  socket.onopen = () => {
    watch.retryMs = 500;
    byId("connection").textContent = "live";
  };
  socket.onmessage = (frame) => {
    if (watch === chosen) take(JSON.parse(frame.data));
  };
  socket.onclose = (close) => {
    if (watch !== chosen) return;
    const final = watch.done || (close.code >= 4100 && close.code < 4200);
    byId("connection").textContent = watch.done ? "ended" : final ? "closed: " + close.reason : "reconnecting …";
    if (final) return;
    setTimeout(() => { if (watch === chosen) follow(watch); }, watch.retryMs * (1 + Math.random()));
    watch.retryMs = Math.min(watch.retryMs * 2, 10000);
  };
}

function choose(task) {
  const before = chosen;
  chosen = {id: task.id, socket: null, last: null, done: false, retryMs: 500};
  if (before !== null && before.socket !== null) before.socket.close();
  byId("title").textContent = nameOf(task);
  byId("state").textContent = task.status.state;
  byId("log").replaceChildren();
  follow(chosen);
  refresh();
}

async function start() {
  byId("logout").addEventListener("click", async () => {
    await fetch("/api/v1/logout", {method: "POST"});
    location.reload();
  });
  try {
    const me = await load("/api/v1/whoami");
    byId("person").textContent = me.person;
    byId("logout").hidden = !me.tokenID;
    byId("tower").hidden = false;
    await refresh();
    setInterval(refresh, kRefreshMs);
  } catch (error) {
    byId("connection").textContent = error.message;
  }
}

start();
