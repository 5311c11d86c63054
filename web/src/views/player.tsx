// Plays the log from a moment on, in real time or faster. Long silences are shortened.
import {useEffect, useState} from "preact/hooks";
import {addKeys} from "../state/keys";
import {at, change} from "../state/route";
import type {TaskView} from "../state/task_view";

const kSpeeds = [1, 2, 4, 8, 16, 32, 64];
const kLongestWaitMs = 1500;
const kFrameMs = 30;
const kAhead = 200;

export function Player({view}: {view: TaskView}) {
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(8);
  const moment = at.value;

  useEffect(() => {
    if (!playing) return;
    const now = at.peek();
    if (now === undefined || now >= view.log.last) {
      setPlaying(false);
      return;
    }
    let given = true;
    let timer = 0;
    void view.want(now, now + kAhead).then(() => {
      if (!given) return;
      // As many steps as fit into one frame at this speed.
      let next = now + 1;
      const from = Date.parse(view.log.at(now)?.timestamp ?? "");
      const gap = (n: number) => Math.max(0, Date.parse(view.log.at(n)?.timestamp ?? "") - from) / speed;
      while (next < view.log.last && view.log.has(next + 1) && gap(next + 1) < kFrameMs) ++next;
      timer = window.setTimeout(() => change({at: next}), Math.max(kFrameMs, Math.min(kLongestWaitMs, gap(next) || 0)));
    }, () => setPlaying(false));
    return () => { given = false; clearTimeout(timer); };
  }, [playing, moment, speed, view]);

  const toggle = () => {
    if (at.peek() === undefined) change({at: view.log.first}, false);
    setPlaying((on) => !on);
  };
  useEffect(() => addKeys([{key: " ", does: "play, pause", act: toggle}]), [view]);

  return (
    <div class="player">
      <button type="button" onClick={toggle} aria-label={playing ? "Pause" : "Play"} aria-pressed={playing}>{playing ? "‖" : "▶"}</button>
      <select aria-label="Speed" value={speed} onChange={(input) => setSpeed(Number(input.currentTarget.value))}>
        {kSpeeds.map((each) => <option key={each} value={each}>{each}×</option>)}
      </select>
      {moment !== undefined && <button type="button" onClick={() => { setPlaying(false); change({at: undefined}); }}>Live</button>}
    </div>
  );
}
