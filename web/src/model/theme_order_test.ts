import {expect, test} from "vitest";
import {themeAfter, type Theme} from "./theme_order";

test.each([[true, ["light", "dark", "system"]], [false, ["dark", "light", "system"]]])("with a system that is dark: %s", (dark, order) => {
  const seen: Theme[] = [];
  for (let theme: Theme = "system"; seen.length < 3;) seen.push(theme = themeAfter(theme, dark));
  expect(seen).toEqual(order);
});
