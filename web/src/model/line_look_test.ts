import {expect, test} from "vitest";
import {kLooks, lineLook} from "./line_look";

test("lines look different", () => {
  const looks = Array.from({length: kLooks ** 2}, (_, index) => lineLook(index));
  expect(new Set(looks.map(({colour, dash}) => `${colour} ${dash}`)).size).toBe(25);
  expect(looks.slice(0, kLooks).map(({colour, dash}) => [colour, dash])).toEqual([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]]);
});
