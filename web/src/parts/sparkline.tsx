// Events of the last five minutes as a line without axes. It shows whether a task is busy, quiet or stuck.
import {kSlices} from "../model/activity";

export function Sparkline({counts}: {counts: readonly number[]}) {
  if (counts.every((each) => each === 0)) return <span class="spark" aria-hidden="true" />;
  const most = Math.max(4, ...counts);
  const bars = counts.map((each, index) => each > 0
    ? `M${index * 2 + 0.75} 14V${(14 - Math.max(1, (each / most) * 12)).toFixed(1)}` : "").join("");
  return (
    <svg class="spark" viewBox={`0 0 ${kSlices * 2} 14`} width={kSlices * 2} height="14" aria-hidden="true" preserveAspectRatio="none">
      <path d={bars} />
    </svg>
  );
}
