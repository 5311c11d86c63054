// Figures over time, one for each step. The chart spells out the figures under the pointer (or at the arrow keys); a
// click or Enter opens the tasks of that step.
import {useEffect, useRef, useState} from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import {lineLook} from "../model/line_look";
import {dayAndTime} from "../model/format";

export interface Line {
  name: string;
  values: number[];
}

const kDash: number[][] = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 4]];  // lines differ by dash, not by colour alone
const kStrokes = ["--ink", "--line-2", "--line-3", "--line-4", "--line-5"];
const kHeight = 180;
// Steps of the vertical axis whose labels stay exact after rounding: no quarter of a cent, no half of a task.
const kWhole = Array.from({length: 13}, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const kSteps = {whole: kWhole, cents: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, ...kWhole]};

// Hours and minutes; days once the ticks are that far apart.
function axisTime(ms: number, stepSeconds: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const isDay = stepSeconds >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0);
  return isDay ? `${two(date.getMonth() + 1)}-${two(date.getDate())}` : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// There is one more time than there are figures, because the last step also has an end.
function drawn(times: number[], stepSeconds: number, lines: Line[]): uPlot.AlignedData {
  const last = times[times.length - 1];
  if (last === undefined) return [[], ...lines.map(() => [])] as unknown as uPlot.AlignedData;
  return [[...times, last + stepSeconds], ...lines.map((line) => [...line.values, line.values[line.values.length - 1] ?? 0])] as uPlot.AlignedData;
}

export function Chart({title, unit, steps = "whole", times, stepSeconds, lines, whole, onPick}: {
  title: string; unit: (value: number) => string; steps?: keyof typeof kSteps; times: number[]; stepSeconds: number; lines: Line[];
  whole: "sum" | "most";  // how to summarise the range
  onPick: (index: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const shown = useRef({times, stepSeconds});
  shown.current = {times, stepSeconds};
  const pointed = useRef<number | null>(null);
  const [under, setUnder] = useState<number | null>(null);
  const names = lines.map((line) => line.name).join("\n");

  useEffect(() => {
    const element = box.current!;
    const axis: uPlot.Axis = {stroke: () => colour("--quiet"), grid: {stroke: () => colour("--line"), width: 1}, ticks: {show: false}, font: "12px system-ui, sans-serif"};
    const made = new uPlot({
      width: Math.max(200, element.clientWidth), height: kHeight, legend: {show: false}, padding: [8, 18, 0, 0],
      cursor: {y: false, points: {size: 6}, drag: {x: false, y: false}},
      scales: {y: {range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1]}},
      axes: [{...axis, size: 26, values: (_, at, __, ___, step) => at.map((time) => axisTime(time * 1000, step))}, {...axis, size: 54, incrs: kSteps[steps], values: (_, values) => values.map((value) => unit(value))}],
      // A figure stands for its whole step; a slope to the next one would show values that never existed.
      series: [{}, ...lines.map((line, index): uPlot.Series => ({
        label: line.name, stroke: () => colour(kStrokes[lineLook(index).colour]!), dash: kDash[lineLook(index).dash]!, width: 1.5, points: {show: false},
        paths: uPlot.paths.stepped!({align: 1}), ...(lines.length === 1 ? {fill: () => colour("--sunken")} : {}),
      }))],
      hooks: {setCursor: [(self) => {
        // The step under the pointer, not the nearest edge.
        const {times: all, stepSeconds: step} = shown.current;
        const left = self.cursor.left ?? -1;
        const index = left < 0 || all[0] === undefined ? null : Math.floor((self.posToVal(left, "x") - all[0]) / step);
        pointed.current = index === null ? null : Math.max(0, Math.min(all.length - 1, index));
        setUnder(pointed.current);
      }]},
    }, drawn(times, stepSeconds, lines), element);
    plot.current = made;
    const click = () => { if (pointed.current !== null) pick.current(pointed.current); };
    made.over.addEventListener("click", click);
    const sizes = new ResizeObserver(() => made.setSize({width: Math.max(200, element.clientWidth), height: kHeight}));
    sizes.observe(element);
    // A canvas does not follow CSS, so a theme change redraws it.
    const themes = new MutationObserver(() => made.redraw(false));
    themes.observe(document.documentElement, {attributeFilter: ["data-theme"]});
    const system = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => made.redraw(false);
    system.addEventListener("change", redraw);
    return () => { sizes.disconnect(); themes.disconnect(); system.removeEventListener("change", redraw); made.destroy(); plot.current = null; };
  }, [names]);
  useEffect(() => plot.current?.setData(drawn(times, stepSeconds, lines)), [times, stepSeconds, lines]);

  function key(press: KeyboardEvent): void {
    const last = times.length - 1;
    const from = under ?? last;
    const to = {ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last}[press.key];
    if (press.key === "Enter" && under !== null) onPick(under);
    else if (to === undefined) return;
    else point(Math.max(0, Math.min(last, to)));
    press.preventDefault();
  }
  function point(index: number): void {
    const made = plot.current;
    if (made && times[index] !== undefined) made.setCursor({left: made.valToPos(times[index] + stepSeconds / 2, "x"), top: 0});
  }

  const figure = (line: Line) => unit(under !== null ? line.values[under] ?? 0
    : whole === "sum" ? line.values.reduce((all, each) => all + each, 0) : Math.max(0, ...line.values));
  const when = under === null || times[under] === undefined ? (whole === "sum" ? "total" : "peak") : dayAndTime(times[under] * 1000, Date.now());
  return (
    <section class="chart-card" aria-label={title}>
      <h2>{title} <span class="quiet number">{when}</span></h2>
      <p class="legend">
        {lines.map((line, index) => (
          <span key={line.name}><svg width="18" height="6" aria-hidden="true"><line x1="0" x2="18" y1="3" y2="3" class={`stroke-${lineLook(index).colour}`} stroke-dasharray={kDash[lineLook(index).dash]!.join(" ")} /></svg> {line.name} <b class="number">{figure(line)}</b></span>))}
      </p>
      <div ref={box} class="chart" role="slider" tabIndex={0} aria-label={`${title}: a point leads to its tasks`} aria-valuemin={0} aria-valuemax={Math.max(0, times.length - 1)}
           aria-valuenow={under ?? Math.max(0, times.length - 1)} aria-valuetext={`${when}: ${lines.map((line) => `${line.name} ${figure(line)}`).join(", ")}`}
           onKeyDown={key} onBlur={() => plot.current?.setCursor({left: -10, top: -10})} />
    </section>
  );
}
