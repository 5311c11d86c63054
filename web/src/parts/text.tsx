// Text from an agent. It only ever becomes text nodes, hidden characters are made visible, and its direction cannot
// affect the text around it.
import {useMemo} from "preact/hooks";
import {parseAnsi} from "../model/ansi";
import {exactPieces, plainLine, prosePieces, type Piece} from "../model/hidden";

function Pieces({pieces}: {pieces: Piece[]}) {
  return <>{pieces.map((piece, index) => (piece.hidden ? <span key={index} class="unseen" title="invisible character">{piece.text}</span> : piece.text))}</>;
}

// Text to read: an agent's words, titles, summaries.
export function Words({text}: {text: string}) {
  const pieces = useMemo(() => prosePieces(text), [text]);
  return <bdi><Pieces pieces={pieces} /></bdi>;
}

// Text that runs or is decided on, shown exactly.
export function Exact({text}: {text: string}) {
  const pieces = useMemo(() => exactPieces(text), [text]);
  return <bdi><Pieces pieces={pieces} /></bdi>;
}

// Terminal output, with its colours and without its other escape sequences.
export function Terminal({text}: {text: string}) {
  const runs = useMemo(() => parseAnsi(text).map((run) => ({className: run.className, pieces: prosePieces(run.text)})), [text]);
  return (
    <bdi>
      {runs.map((run, index) =>
        run.className ? <span key={index} class={run.className}><Pieces pieces={run.pieces} /></span> : <Pieces key={index} pieces={run.pieces} />)}
    </bdi>
  );
}

const kTail = 9;  // last characters that stay, because names that begin alike differ there
const kMostName = 400;

// A name on one line. If it does not fit, its middle is cut; pointing, copying and screen readers still get all of it.
export function Name({text, most = 60}: {text: string; most?: number}) {
  const {shown, head, tail} = useMemo(() => {
    const all = plainLine(text.length > kMostName ? `${text.slice(0, kMostName)}…` : text);
    const characters = [...all];
    return characters.length < 2 * kTail ? {shown: all, head: "", tail: ""}
      : {shown: all, head: characters.slice(0, -kTail).join(""), tail: characters.slice(-kTail).join("")};
  }, [text]);
  if (!head) return <bdi class="name">{shown}</bdi>;
  return <bdi class="name" title={shown} style={{maxWidth: `${most}ch`}}><span class="name-head">{head}</span><span class="name-tail">{tail}</span></bdi>;
}
