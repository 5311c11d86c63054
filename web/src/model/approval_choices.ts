// Which of an agent's options a person chooses by name: those of a kind that it offers more than once. For the others
// Approve, Deny and what is remembered say enough. Pure.
import type {AskedOption} from "./shape";

export interface Choices {
  approve: AskedOption[];
  deny: AskedOption[];
}

// `remembered` are the names that are offered as rules.
export function choicesOf(options: readonly AskedOption[], remembered: readonly string[]): Choices {
  const several = options.filter((option) => options.filter((each) => each.kind === option.kind).length > 1 && !remembered.includes(option.name));
  return {approve: several.filter((each) => each.kind.startsWith("allow")), deny: several.filter((each) => each.kind.startsWith("reject"))};
}
