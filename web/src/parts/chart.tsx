// A line chart over time. The numbers under the pointer are said in words, and there is a table for whoever cannot
// see it.
import {useEffect, useRef, useState} from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import {dayAndTime} from "../model/format";

export interface Line {
  name: string;
  values: number[];
}

const kDash: number[][] = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 4]];  // lines differ by dash, not by colour alone
const kStrokes = ["--ink", "--line-2", "--line-3", "--line-4", "--line-5"];
const kHeight = 180;

// Hours and minutes; days once the marks are that far apart.
function axisTime(ms: number, stepSeconds: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const isDay = stepSeconds >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0);
  return isDay ? `${two(date.getMonth() + 1)}-${two(date.getDate())}` : `${two(date.getHours())}:${two(date.getMinutes())}`;
}

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({title, unit, times, lines, onPick}: {
  title: string; unit: (value: number) => string; times: number[]; lines: Line[]; onPick: (index: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const [under, setUnder] = useState<number | null>(null);
  const names = lines.map((line) => line.name).join("\n");

  useEffect(() => {
    const element = box.current!;
    const axis: uPlot.Axis = {stroke: () => colour("--quiet"), grid: {stroke: () => colour("--line"), width: 1}, ticks: {show: false}, font: "11px system-ui, sans-serif"};
    const made = new uPlot({
      width: Math.max(200, element.clientWidth), height: kHeight, legend: {show: false}, padding: [8, 8, 0, 0],
      cursor: {y: false, points: {size: 6}, drag: {x: false, y: false}},
      scales: {y: {range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1]}},
      axes: [{...axis, size: 28, values: (_, at, __, ___, step) => at.map((time) => axisTime(time * 1000, step))}, {...axis, size: 54, values: (_, values) => values.map((value) => unit(value))}],
      series: [{}, ...lines.map((line, index): uPlot.Series => ({
        label: line.name, stroke: () => colour(kStrokes[index % kStrokes.length]!), dash: kDash[index % kDash.length]!, width: 1.5, points: {show: false},
      }))],
      hooks: {setCursor: [(self) => setUnder(self.cursor.idx ?? null)]},
    }, [times, ...lines.map((line) => line.values)] as uPlot.AlignedData, element);
    plot.current = made;
    const click = () => { if (made.cursor.idx !== null && made.cursor.idx !== undefined) pick.current(made.cursor.idx); };
    made.over.addEventListener("click", click);
    const sizes = new ResizeObserver(() => made.setSize({width: Math.max(200, element.clientWidth), height: kHeight}));
    sizes.observe(element);
    return () => { sizes.disconnect(); made.destroy(); plot.current = null; };
  }, [names]);
  useEffect(() => plot.current?.setData([times, ...lines.map((line) => line.values)] as uPlot.AlignedData), [times, lines]);

  const shown = under ?? times.length - 1;
  return (
    <section class="chart-card" aria-label={title}>
      <h2>{title} <span class="quiet number">{times[shown] !== undefined && (under === null ? "newest" : dayAndTime(times[shown] * 1000, Date.now()))}</span></h2>
      <p class="legend">
        {lines.map((line, index) => (
          <span key={line.name}><svg width="18" height="6" aria-hidden="true"><line x1="0" x2="18" y1="3" y2="3" class={`stroke-${index % kStrokes.length}`} stroke-dasharray={kDash[index % kDash.length]!.join(" ")} /></svg> {line.name} <b class="number">{unit(line.values[shown] ?? 0)}</b></span>))}
      </p>
      <div ref={box} class="chart" role="img" aria-label={`${title}: ${lines.map((line) => `${line.name} ${unit(line.values[line.values.length - 1] ?? 0)}`).join(", ")}`} />
      {under !== null && <button type="button" class="plain hidden-until-focus" onClick={() => onPick(under)}>tasks of this point</button>}
    </section>
  );
}
