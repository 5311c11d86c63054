// The answer that a model is writing: live pieces, put together. Pieces are numbered within their block, so a lost one is
// noticed; the whole text so far then comes from the server, and pieces that came meanwhile continue it. Pure.
import {countOf, objectOf, textOf} from "./shape";

// What the server says of the current answer.
export interface SoFar {
  after: number;   // the newest event when this was true
  block: string;
  pieces: number;  // that this text contains
  text: string;    // Markdown
  reasoning: string;
  cut: boolean;    // only the beginning
}

interface Piece {
  number: number;  // 0: not numbered
  text: string;
  kind: string;
}

// Characters that are shown while they stream. The finished message has the rest.
export const kMostLive = 200_000;

const kFenceLine = /^```/;

// Whether a text ends inside a code block, by the server's own rule: three backticks at the start of a line.
function endsInCode(text: string): boolean {
  let inCode = false;
  for (let at = 0; at >= 0 && at < text.length; at = text.indexOf("\n", at) + 1 || -1) {
    if (kFenceLine.test(text.slice(at, at + 3))) inCode = !inCode;
  }
  return inCode;
}

export class LiveAnswer {
  block = "";
  text = "";
  reasoning = "";
  cut = false;
  #pieces = 0;
  #inCode = false;
  #ended = "";             // the last block that is a message now
  #gap: Piece[] | null = null;  // pieces since one was lost

  get isEmpty(): boolean {
    return this.text === "" && this.reasoning === "";
  }
  // A piece was lost: the caller reads what there is and calls restore().
  get isBroken(): boolean {
    return this.#gap !== null;
  }

  take(data: unknown): void {
    const from = objectOf(data);
    const block = textOf(from, "block");
    if (block === this.#ended) return;
    const piece: Piece = {number: countOf(from, "piece"), text: textOf(from, "text"), kind: textOf(from, "kind")};
    if (block !== this.block) this.#begin(block);
    if (this.#gap) {
      this.#gap.push(piece);
      return;
    }
    if (piece.number > 0 && piece.number <= this.#pieces) return;
    if (piece.number > this.#pieces + 1) {
      this.#gap = [piece];
      return;
    }
    this.#append(piece);
  }

  // The model's message is in the log, or its turn has ended.
  finish(): void {
    if (this.block) this.#ended = this.block;
    this.#begin("");
  }

  // `newest`: the newest event of the model, or of the turn's end, that the page has. An older report says nothing.
  restore(answer: SoFar | undefined, newest: number): void {
    if (!answer || answer.block === this.#ended || newest > answer.after) {
      // The model's message is here or on its way; what was said before the loss is still true.
      this.#gap = null;
      return;
    }
    const since = answer.block === this.block ? this.#gap ?? [] : [];
    if (answer.block === this.block && !this.#gap && this.#pieces >= answer.pieces) return;
    this.#begin(answer.block);
    this.#pieces = answer.pieces;
    this.reasoning = answer.reasoning;
    this.text = answer.text;
    this.cut = answer.cut;
    this.#inCode = endsInCode(answer.text);
    for (const piece of since) if (piece.number > this.#pieces) this.take({block: answer.block, piece: piece.number, text: piece.text, kind: piece.kind});
  }

  #begin(block: string): void {
    this.block = block;
    this.text = this.reasoning = "";
    this.cut = this.#inCode = false;
    this.#pieces = 0;
    this.#gap = null;
  }

  #append(piece: Piece): void {
    this.#pieces = piece.number || this.#pieces;
    if (this.cut) return;
    if (piece.kind === "reasoning") {
      this.reasoning += piece.text;
    } else {
      // The server leaves out the lines that begin and end a code block.
      const isCode = piece.kind === "code";
      if (isCode !== this.#inCode) this.#line("```\n");
      else if (isCode && kFenceLine.test(this.text.slice(this.text.lastIndexOf("\n") + 1))) this.#line("");
      this.#inCode = isCode;
      this.text += piece.text;
    }
    this.cut = this.text.length + this.reasoning.length > kMostLive;
  }

  // Begins a line of its own.
  #line(text: string): void {
    this.text += (this.text === "" || this.text.endsWith("\n") ? "" : "\n") + text;
  }
}
