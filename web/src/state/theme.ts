// Light or dark: the system's choice, or the person's.
import {signal} from "@preact/signals";
import {themeAfter, type Theme} from "../model/theme_order";

const kKey = "shepherd.theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = signal<Theme>(stored());

function apply(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}
apply();

export function nextTheme(): void {
  theme.value = themeAfter(theme.value, matchMedia("(prefers-color-scheme: dark)").matches);
  try {
    if (theme.value === "system") localStorage.removeItem(kKey);
    else localStorage.setItem(kKey, theme.value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  apply();
}
