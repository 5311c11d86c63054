import {describe, expect, it} from "vitest";
import {arranged, kStayMs} from "./needs_order";

const items = (...keys: string[]) => keys.map((key) => ({key, item: key}));
const shown = (list: {key: string; goneAt: number | undefined}[]) => list.map((each) => each.key + (each.goneAt === undefined ? "" : "*")).join(" ");

describe("what needs a person", () => {
  it("is in the server's order while nobody is at it", () => {
    const first = arranged([], items("a", "b"), false, 0);
    expect(shown(arranged(first, items("urgent", "b", "a"), false, 10))).toBe("urgent b a");
  });
  it("stays where it is under a pointer; what is new comes last", () => {
    const first = arranged([], items("a", "b", "c"), false, 0);
    expect(shown(arranged(first, items("urgent", "c", "a", "b"), true, 10))).toBe("a b c urgent");
  });
  it("stays for two seconds once it is settled, and longer under a pointer", () => {
    const first = arranged([], items("a", "b"), false, 0);
    const settled = arranged(first, items("b"), false, 1000);
    expect(shown(settled)).toBe("a* b");
    expect(shown(arranged(settled, items("urgent", "b"), false, 1000 + kStayMs - 1))).toBe("a* b urgent");
    expect(shown(arranged(settled, items("b"), true, 60_000))).toBe("a* b");
    expect(shown(arranged(settled, items("b"), false, 1000 + kStayMs))).toBe("b");
  });
  it("is itself again when it comes back, unanswered after all", () => {
    const settled = arranged(arranged([], items("a", "b"), false, 0), items("b"), true, 10);
    expect(shown(arranged(settled, items("b", "a"), true, 20))).toBe("a b");
  });
});
