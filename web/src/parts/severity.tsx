// How bad a finding is. The word comes from an agent; only known ones have a look of their own.
import {Words} from "./text";

export const kSeverities = ["critical", "high", "medium", "low", "info"];

export function Severity({name}: {name: string}) {
  return <span class={kSeverities.includes(name) ? `severity severity-${name}` : "severity"}><Words text={name || "finding"} /></span>;
}
