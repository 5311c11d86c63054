// Text that an agent wrote. It only ever becomes text nodes; what is hidden in it is made visible; its direction cannot
// reach beyond it.
import {withVisibleControls} from "../model/bidi";
import {parseAnsi, withoutAnsi} from "../model/ansi";

export function Words({text}: {text: string}) {
  return <bdi>{withVisibleControls(withoutAnsi(text))}</bdi>;
}

export function Terminal({text}: {text: string}) {
  return (
    <bdi>
      {parseAnsi(text).map((run, index) =>
        run.className ? <span key={index} class={run.className}>{withVisibleControls(run.text)}</span> : withVisibleControls(run.text))}
    </bdi>
  );
}

const kTail = 9;  // characters of the end that stay: names that begin alike differ there

// A name on one line. Where it does not fit its middle goes; the whole of it is there for whoever points at it, copies it
// or has it read out.
export function Name({text, most = 60}: {text: string; most?: number}) {
  const shown = withVisibleControls(withoutAnsi(text)).replace(/\s+/g, " ");
  const characters = [...shown];
  if (characters.length < 2 * kTail) return <bdi class="name">{shown}</bdi>;
  const head = characters.slice(0, -kTail).join("");
  return <bdi class="name" title={shown} style={{maxWidth: `${most}ch`}}><span class="name-head">{head}</span><span class="name-tail">{characters.slice(-kTail).join("")}</span></bdi>;
}
