// Approvals that are shown as open: those that are open and, for a moment, those that were. An answered approval stays
// in place for a while, and longer under the pointer. Pure; the time is passed in.
import {kStayMs} from "./needs_order";

export class Lingering {
  #until = new Map<string, number>();  // approvalID -> when it may go; Infinity while it is open

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
