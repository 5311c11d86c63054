import {describe, expect, it} from "vitest";
import {kMostLive, LiveAnswer, type SoFar} from "./live_answer";

const piece = (number: number, text: string, kind?: string, block = "3.1") => ({block, piece: number, text, ...(kind ? {kind} : {})});
const soFar = (text: string, pieces: number, more: Partial<SoFar> = {}): SoFar => ({after: 3, block: "3.1", pieces, text, reasoning: "", cut: false, ...more});
function taken(...pieces: unknown[]): LiveAnswer {
  const live = new LiveAnswer();
  pieces.forEach((each) => live.take(each));
  return live;
}

describe("a live answer", () => {
  it("is its pieces in order, reasoning apart", () => {
    const live = taken(piece(1, "hm", "reasoning"), piece(2, "Hel"), piece(3, "lo"));
    expect([live.text, live.reasoning, live.isBroken]).toEqual(["Hello", "hm", false]);
  });

  it("gets its code fences back", () => {
    const live = taken(piece(1, "See:\n"), piece(2, "a = 1\n", "code"), piece(3, "b\n", "code"), piece(4, "After"));
    expect(live.text).toBe("See:\n```\na = 1\nb\n```\nAfter");
    expect(taken(piece(1, "x", "code")).text).toBe("```\nx");
    expect(taken(piece(1, "no line end"), piece(2, "x", "code")).text).toBe("no line end\n```\nx");
  });

  it("begins anew with a block", () => {
    expect(taken(piece(1, "one"), piece(1, "two", undefined, "3.2")).text).toBe("two");
  });

  it("is gone when its message is there, with pieces that come late", () => {
    const live = taken(piece(1, "one"));
    live.finish();
    expect(live.isEmpty).toBe(true);
    live.take(piece(2, " late"));
    expect(live.isEmpty).toBe(true);
    live.take(piece(1, "next", undefined, "9.1"));
    expect(live.text).toBe("next");
  });

  it("notices a lost piece, and goes on when the text so far was read", () => {
    const live = taken(piece(1, "one"), piece(3, " three"));
    expect([live.text, live.isBroken]).toEqual(["one", true]);
    live.take(piece(4, " four"));
    live.restore(soFar("one two three", 3), 0);
    expect([live.text, live.isBroken]).toEqual(["one two three four", false]);
    live.take(piece(5, " five"));
    expect(live.text).toBe("one two three four five");
  });

  it("is still broken if what was read is older than the loss", () => {
    const live = taken(piece(1, "one"), piece(5, " five"));
    live.restore(soFar("one two three", 3), 0);
    expect([live.text, live.isBroken]).toEqual(["one two three", true]);
    live.restore(soFar("one two three four five", 5), 0);
    expect([live.text, live.isBroken]).toEqual(["one two three four five", false]);
  });

  it("of a page that comes late: the text so far, then its pieces, none twice", () => {
    const live = new LiveAnswer();
    live.take(piece(7, " seven"));
    expect(live.isBroken).toBe(true);
    live.restore(soFar("one … seven", 7), 0);
    live.take(piece(7, " seven"));
    live.take(piece(8, " eight"));
    expect(live.text).toBe("one … seven eight");
    const early = new LiveAnswer();
    early.restore(soFar("one two", 2, {reasoning: "hm"}), 0);
    expect([early.text, early.reasoning]).toEqual(["one two", "hm"]);
    early.take(piece(3, " three"));
    expect(early.text).toBe("one two three");
  });

  it("continues a code block that was open", () => {
    const live = new LiveAnswer();
    live.restore(soFar("See:\n```py\na = 1\n", 2), 0);
    live.take(piece(3, "b = 2\n", "code"));
    live.take(piece(4, "After"));
    expect(live.text).toBe("See:\n```py\na = 1\nb = 2\n```\nAfter");
    const fence = new LiveAnswer();
    fence.restore(soFar("See:\n```py", 1), 0);
    fence.take(piece(2, "x", "code"));
    expect(fence.text).toBe("See:\n```py\nx");
    const closed = new LiveAnswer();
    closed.restore(soFar("```\nx\n```\n", 1), 0);
    closed.take(piece(2, "After"));
    expect(closed.text).toBe("```\nx\n```\nAfter");
  });

  it("takes no report that is older than a message, a shorter text, or an ended block", () => {
    const live = taken(piece(1, "one"), piece(2, " two"));
    live.restore(soFar("one", 1), 0);
    expect(live.text).toBe("one two");
    live.finish();
    live.restore(soFar("one two", 2), 0);
    expect(live.isEmpty).toBe(true);
    const late = new LiveAnswer();
    late.restore(soFar("one", 1, {after: 3}), 4);
    expect(late.isEmpty).toBe(true);
    late.restore(undefined, 4);
    expect(late.isEmpty).toBe(true);
  });

  it("is bounded", () => {
    const live = taken(piece(1, "x".repeat(kMostLive)), piece(2, "y"), piece(3, "z"));
    expect([live.text.length, live.cut]).toEqual([kMostLive + 1, true]);
  });

  it("takes pieces without numbers, and nonsense, as they come", () => {
    const live = taken({block: "b", text: "a"}, {block: "b", text: "b"});
    expect(live.text).toBe("ab");
    for (const odd of [null, 3, "x", {}, {block: 3, text: {}}, {block: "b", piece: "x", text: null}]) live.take(odd);
    expect(live.text).not.toContain("null");
  });
});
