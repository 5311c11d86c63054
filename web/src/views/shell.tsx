// The frame around every view: navigation, the user and the state of the connection.
import type {ComponentChildren} from "preact";
import {useEffect, useRef} from "preact/hooks";
import {duration} from "../model/format";
import {dayAndTime} from "../model/format";
import {inbox} from "../state/inbox";
import {live} from "../state/live";
import {hasModel} from "../state/model";
import {now} from "../state/now";
import {chatID, href, taskID, view} from "../state/route";
import {logOut, mayCommand, me} from "../state/session";
import {nextTheme, theme} from "../state/theme";
import {helpOpen} from "../state/keys";

const kBlinkMs = 2000;
const kThemeWords = {system: "as the system", light: "light", dark: "dark"};

function Connection() {
  const {state, since, reason} = live.value;
  if (state === "live") return <span class="live live-live" role="status">live</span>;
  if (state === "catching_up") return <span class="live live-catching" role="status">catching up …</span>;
  if (state === "connecting") return <span class="live live-catching" role="status">connecting …</span>;
  const length = duration(Math.max(0, Math.floor((now.value - since) / 1000) * 1000));
  return (
    <span class="live live-lost" role="status" title={reason}>
      {state === "ended" ? `closed: ${reason}` : <>disconnected since {dayAndTime(since, now.value)} {now.value - since >= 1000 && <span class="number" aria-hidden="true">({length})</span>}</>}
    </span>
  );
}

// Warns across the screen that the data may be stale, unless the interruption is only brief.
function Stale() {
  const {state, since} = live.value;
  if (state !== "ended" && (state !== "disconnected" || now.value - since < kBlinkMs)) return null;
  return (
    <p class="stale-line" role="status">What you see is how it stood at {dayAndTime(since, now.value)}.{" "}
      {state === "ended" ? <a href="/" onClick={(click) => { click.preventDefault(); location.reload(); }}>Reload</a> : "Trying to connect again …"}</p>
  );
}

function Tab({name, to, children}: {name: string; to: string; children: ComponentChildren}) {
  return <a class="tab" href={to} aria-current={view.value === name || (name === "fleet" && (view.value === "task" || view.value === "chat")) ? "page" : undefined}>{children}</a>;
}

export function Shell({children}: {children: ComponentChildren}) {
  const total = inbox.value.total;
  const main = useRef<HTMLElement>(null);
  const place = `${view.value} ${taskID.value} ${chatID.value}`;
  const before = useRef(place);
  // Focus goes with the view, unless the new view has put it into a field.
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    const focused = document.activeElement;
    if (!main.current?.contains(focused) || focused === main.current) main.current?.focus({preventScroll: true});
  }, [place]);
  const stale = live.value.state === "disconnected" || live.value.state === "ended";
  return (
    <div class={stale ? "shell stale" : "shell"}>
      <a class="skip" href="#main" onClick={(click) => { click.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href="/" aria-label="Shepherd, fleet">Shepherd</a>
        <nav aria-label="Views">
          <Tab name="fleet" to="/">Fleet{total > 0 && <span class="badge" aria-label={`${total} need you`}>{total}</span>}</Tab>
          <Tab name="metrics" to={href({view: "metrics"})}>Metrics</Tab>
          <Tab name="search" to={href({view: "search"})}>Search</Tab>
          <Tab name="findings" to={href({view: "findings"})}>Findings</Tab>
        </nav>
        <span class="grow" />
        <Connection />
        {mayCommand() && hasModel.value && <a class="button" href={href({view: "chat"})}>New chat</a>}
        {mayCommand() && <a class="button" href={href({view: "new"})}>New task</a>}
        <button type="button" class="plain" onClick={nextTheme} aria-label={`Light or dark: ${kThemeWords[theme.value]}`} title={`Light or dark: ${kThemeWords[theme.value]}`}>◐</button>
        <button type="button" class="plain keys-button" onClick={() => { helpOpen.value = true; }} aria-label="Keys" title="Keys (?)">?</button>
        <span class="person">{me.value?.person}</span>
        {me.value?.tokenID && <button type="button" class="plain" onClick={() => void logOut()}>Log out</button>}
      </header>
      <Stale />
      <main id="main" ref={main} tabIndex={-1}>{children}</main>
    </div>
  );
}
