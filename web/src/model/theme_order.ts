// The order of the themes. The first press always changes what is seen; the third is the system's choice again. Pure.
export type Theme = "system" | "light" | "dark";

export function themeAfter(theme: Theme, isSystemDark: boolean): Theme {
  const [same, other]: [Theme, Theme] = isSystemDark ? ["dark", "light"] : ["light", "dark"];
  return theme === "system" ? other : theme === other ? same : "system";
}
