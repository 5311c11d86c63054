// An input as the tool would receive it: in the form that suits the tool, with every member.
import type {ShownPart} from "../model/input_clip";
import {DiffLines} from "./diff";
import {Exact} from "./text";

function Part({part}: {part: ShownPart}) {
  switch (part.form) {
    case "command": return <pre class="command"><Exact text={part.text} /></pre>;
    case "path": return <p class="path"><Exact text={part.text} /></p>;
    case "prose": return <p class="prose"><Exact text={part.text} /></p>;
    case "change": return <>{part.name && <p class="quiet">{part.name}</p>}{part.lines.length === 0 ? <p class="quiet">an empty file</p> : <DiffLines lines={part.lines} numbers={part.isFile} />}</>;
    case "member": return <dl class="input"><div><dt><Exact text={part.name} /></dt><dd><Exact text={part.text} /></dd></div></dl>;
  }
}

export function ExactInput({parts}: {parts: ShownPart[]}) {
  return <div class="exact">{parts.map((part, index) => <Part key={index} part={part} />)}{parts.length === 0 && <p class="quiet">no input</p>}</div>;
}
