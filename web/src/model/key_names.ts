// The names of the keys of a shortcut. "g f" is a sequence, " " is the space bar. Pure.
export const keyNames = (key: string): string[] => (key === " " ? ["space"] : key.split(" "));
