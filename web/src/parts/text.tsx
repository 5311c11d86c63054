// Text that an agent wrote. It only ever becomes text nodes; what is hidden in it is made visible; its direction cannot
// reach beyond it.
import {useMemo} from "preact/hooks";
import {parseAnsi} from "../model/ansi";
import {exactPieces, plainLine, prosePieces, type Piece} from "../model/hidden";

function Pieces({pieces}: {pieces: Piece[]}) {
  return <>{pieces.map((piece, index) => (piece.hidden ? <span key={index} class="unseen" title="a character that is not seen">{piece.text}</span> : piece.text))}</>;
}

// What is read: an agent's words, titles, summaries.
export function Words({text}: {text: string}) {
  const pieces = useMemo(() => prosePieces(text), [text]);
  return <bdi><Pieces pieces={pieces} /></bdi>;
}

// What runs or is decided on: exactly what is there.
export function Exact({text}: {text: string}) {
  const pieces = useMemo(() => exactPieces(text), [text]);
  return <bdi><Pieces pieces={pieces} /></bdi>;
}

// What a program wrote to a terminal: in its colours, without its other escape sequences.
export function Terminal({text}: {text: string}) {
  const runs = useMemo(() => parseAnsi(text).map((run) => ({className: run.className, pieces: prosePieces(run.text)})), [text]);
  return (
    <bdi>
      {runs.map((run, index) =>
        run.className ? <span key={index} class={run.className}><Pieces pieces={run.pieces} /></span> : <Pieces key={index} pieces={run.pieces} />)}
    </bdi>
  );
}

const kTail = 9;  // characters of the end that stay: names that begin alike differ there
const kMostName = 400;

// A name on one line. Where it does not fit its middle goes; the whole of it is there for whoever points at it, copies it
// or has it read out.
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
