// The severity of a finding. The word comes from an agent; only known words have their own style.
import {Words} from "./text";

export const kSeverities = ["critical", "high", "medium", "low", "info"];

export function Severity({name}: {name: string}) {
  return <span class={kSeverities.includes(name) ? `severity severity-${name}` : "severity"}><Words text={name || "finding"} /></span>;
}
