import {expect, test} from "vitest";
import {keyNames} from "./key_names";

test.each([[" ", ["space"]], ["g f", ["g", "f"]], ["Enter", ["Enter"]], ["/", ["/"]]])("%j", (key, names) => {
  expect(keyNames(key)).toEqual(names);
});
