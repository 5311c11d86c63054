// Light or dark: the system's choice until the person chooses.
import {signal} from "@preact/signals";

export type Theme = "system" | "light" | "dark";
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
  const dark = theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = dark ? "light" : "dark";
  try {
    localStorage.setItem(kKey, theme.value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  apply();
}
