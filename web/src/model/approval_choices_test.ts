import {expect, test} from "vitest";
import {choicesOf} from "./approval_choices";
import {askedOf} from "./shape";
import type {TaskEvent} from "../api/types";

// The data of an approval of an agent that speaks ACP.
const data = {
  approvalID: "a1", state: "open", kind: "permission", tool: "edit", remember: ["Always allow"], redacted: ["content", 7],
  options: [
    {id: "proceed_once", name: "Allow", kind: "allow_once"}, {id: "modify", name: "Allow with changes", kind: "allow_once"},
    {id: "proceed_always", name: "Always allow", kind: "allow_always"}, {id: "cancel", name: "No", kind: "reject_once"}, {name: "no id"}, 3,
  ],
};
const asked = askedOf({sequence: 3, type: "approval", data} as unknown as TaskEvent);

test("options and redacted members are read, whatever else is there", () => {
  expect(asked.options.map((each) => each.id)).toEqual(["proceed_once", "modify", "proceed_always", "cancel"]);
  expect(asked.redacted).toEqual(["content"]);
});

test("what is offered more than once is chosen by name", () => {
  expect(choicesOf(asked.options, asked.remember)).toEqual({approve: data.options.slice(0, 2), deny: []});
});

test("one of each kind needs no names, and a rule is not offered twice", () => {
  const [allow, , always, no] = asked.options as [typeof asked.options[0], unknown, typeof asked.options[0], typeof asked.options[0]];
  expect(choicesOf([allow, always, no], [])).toEqual({approve: [], deny: []});
  expect(choicesOf([always, {...always, id: "b", name: "Always here"}], ["Always allow", "Always here"])).toEqual({approve: [], deny: []});
  expect(choicesOf([no, {...no, id: "stop", name: "No, and stop"}], []).deny.map((each) => each.id)).toEqual(["cancel", "stop"]);
});
