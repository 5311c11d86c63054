// The numbers above the fleet. Each counts the rows that its link shows, with the same filter. Pure.
import type {Task} from "../api/types";
import {fleetRows, type Filter} from "./fleet_rows";

export interface Counter {
  name: string;
  value: number;
  to: {state: string; ended?: "today"};  // the filter, as in the address
}

const kCounted: readonly Omit<Counter, "value">[] = [
  {name: "running", to: {state: "running"}},
  {name: "waiting", to: {state: "waiting_for_input"}},
  {name: "queued", to: {state: "queued"}},
  {name: "failed today", to: {state: "failed", ended: "today"}},
];
const kAll: Filter = {state: "", agent: "", text: "", group: "", ended: ""};

export const countersOf = (tasks: readonly Task[], now: number): Counter[] =>
  kCounted.map((each) => ({...each, value: fleetRows(tasks, {...kAll, ...each.to}, now).length}));
