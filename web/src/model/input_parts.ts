// Splits a tool's input into readable parts: the form that suits the tool, and every other member as it is. No member
// is left out.
import type {JsonObject} from "../api/types";
import {objectOf} from "./shape";

export type InputPart =
  | {form: "command" | "path" | "prose"; name: string; text: string}
  | {form: "change"; name: string; before: string; after: string; isFile: boolean}
  | {form: "member"; name: string; text: string};

const kEdits = ["old_string", "new_string"];

// Returns a change if the object has the texts of one.
function change(name: string, from: JsonObject): {part: InputPart; used: string[]} | undefined {
  const [before, after, content] = [from["old_string"], from["new_string"], from["content"]];
  if (typeof after === "string" && (before === undefined || typeof before === "string")) {
    return {part: {form: "change", name, before: before ?? "", after, isFile: false}, used: kEdits};
  }
  if (typeof content === "string" && after === undefined && before === undefined) return {part: {form: "change", name, before: "", after: content, isFile: true}, used: ["content"]};
  return undefined;
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "null");

export function inputParts(tool: string, input: JsonObject): InputPart[] {
  const parts: InputPart[] = [];
  const used = new Set<string>();
  const take = (name: string, form: "command" | "path" | "prose") => {
    const text = input[name];
    if (typeof text !== "string") return;
    parts.push({form, name, text});
    used.add(name);
  };
  if (tool === "Bash" || tool === "run_command") take("command", "command");
  const whole = tool === "Edit" || tool === "Write" || typeof input["new_string"] === "string" ? change("", input) : undefined;
  const edits = Array.isArray(input["edits"]) ? input["edits"].map(objectOf) : [];
  const changes = edits.map((edit, index) => edit && change(`edit ${index + 1} of ${edits.length}`, edit));
  if (whole || changes.some(Boolean)) take("file_path", "path");
  if (whole) {
    parts.push(whole.part);
    whole.used.forEach((name) => used.add(name));
  }
  if (changes.length > 0 && changes.every((each) => each !== undefined)) {
    changes.forEach((each, index) => parts.push(each.part, ...rest(edits[index]!, new Set(each.used), `edit ${index + 1}: `)));
    used.add("edits");
  }
  if (tool === "ExitPlanMode") take("plan", "prose");
  return [...parts, ...rest(input, used, "")];
}

function rest(input: JsonObject, used: Set<string>, prefix: string): InputPart[] {
  return Object.entries(input).filter(([name]) => !used.has(name)).map(([name, value]): InputPart => ({form: "member", name: prefix + name, text: shown(value)}));
}
