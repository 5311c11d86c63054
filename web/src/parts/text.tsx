// Text that an agent wrote. It only ever becomes text nodes; what is hidden in it is made visible; its direction cannot
// reach beyond it.
import {withVisibleControls} from "../model/bidi";
import {parseAnsi, withoutAnsi} from "../model/ansi";
import {middle} from "../model/format";

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

// A name: the whole of it is there for whoever points at it or has it read out.
export function Name({text, most = 60}: {text: string; most?: number}) {
  const shown = withVisibleControls(withoutAnsi(text)).replace(/\s+/g, " ");
  return <bdi class="name" title={shown.length > most ? shown : undefined}>{middle(shown, most)}</bdi>;
}
