// Answers of the dashboard's routes, by their names in the OpenAPI description.
import type {components} from "../../build/openapi";

type Schemas = components["schemas"];

export type Inbox = Schemas["Inbox"];
export type InboxItem = Schemas["InboxItem"];
export type Stats = Schemas["Stats"];
export type StatsPoint = Stats["series"][number]["points"][number];
export type Timeline = Schemas["Timeline"];
export type Findings = Schemas["Findings"];
export type Finding = Findings["items"][number];
