// Approvals that are shown as open: those that are, and for a moment those that were. What a person has just answered stays where
// it is, and under the pointer longer. Pure; the time is passed in.
import {kStayMs} from "./needs_order";

export class Lingering {
  #until = new Map<string, number>();  // approvalID -> when it may go; Infinity: it is open

  look(open: readonly string[], now: number, isHeld: (approvalID: string) => boolean): void {
    for (const id of open) this.#until.set(id, Infinity);
    for (const [id, until] of this.#until) {
      if (open.includes(id)) continue;
      if (until === Infinity) this.#until.set(id, now + kStayMs);
      else if (now >= until && !isHeld(id)) this.#until.delete(id);
    }
  }

  has(approvalID: string): boolean {
    return this.#until.has(approvalID);
  }

  get size(): number {
    return this.#until.size;
  }
}
