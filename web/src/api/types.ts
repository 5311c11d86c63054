// Names for the API's types. The build generates build/openapi.ts from the OpenAPI description.
import type {components} from "../../build/openapi";

type Schemas = components["schemas"];

// The page shows rows; it needs no task's description.
export type Task = Schemas["TaskRow"];
export type State = Schemas["State"];
export type TaskEvent = Schemas["Event"];
export type EventPage = Schemas["EventPage"];
export type TaskRequest = Schemas["TaskRequest"];
export type Command = Schemas["Command"];
export type CommandKind = Schemas["CommandKind"];
export type CommandState = Schemas["CommandState"];
export type CommandAnswer = Schemas["CommandAnswer"];
export type StreamMessage = Schemas["StreamMessage"];
export type SearchResults = Schemas["SearchResults"];
export type Runner = Schemas["Runner"];
export type WhoAmI = Schemas["WhoAmI"];
export type Problem = Schemas["Problem"];

export type TaskCommand = NonNullable<Task["commands"]>[number];
export type TaskApproval = NonNullable<Task["approvals"]>[number];
export type Usage = NonNullable<Task["usage"]>;
export type JsonObject = Record<string, unknown>;
