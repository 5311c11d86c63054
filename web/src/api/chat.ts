// Calls of chat sessions, which are not below /api/v1. Prompts, words and answers to approvals are commands of the
// session's task (state/commands.ts), so that a repeated request is carried out once.
import {countOf, objectOf, textOf} from "../model/shape";
import type {SoFar} from "../model/live_answer";
import {askAt} from "./client";

export interface ChatStatus {
  model: string;
  contextSize: number;   // tokens; 0 if the backend does not say
  totalTokens: number;
  answer: SoFar | undefined;  // what the model has said in its current call
}

const sessionPath = (id: string, what: string) => `/sessions/${encodeURIComponent(id)}/${what}`;

export const chatApi = {
  status: async (id: string, signal?: AbortSignal): Promise<ChatStatus> => {
    const {value} = await askAt<unknown>(sessionPath(id, "status"), "GET", undefined, signal);
    const answer = objectOf(objectOf(value)?.["answer"]);
    return {
      model: textOf(value, "model"), contextSize: countOf(value, "context_size"), totalTokens: countOf(value, "total_tokens"),
      answer: answer && {after: countOf(answer, "after"), block: textOf(answer, "block"), pieces: countOf(answer, "pieces"), text: textOf(answer, "text"), reasoning: textOf(answer, "reasoning"), cut: answer["cut"] === true},
    };
  },
  cancel: async (id: string): Promise<boolean> => objectOf((await askAt<unknown>(sessionPath(id, "cancel"), "POST")).value)?.["cancelled"] === true,
  clear: async (id: string): Promise<void> => { await askAt<unknown>(sessionPath(id, "clear"), "POST"); },
  // A session with the whole turns through this message.
  fork: async (id: string, message: number, fresh: string): Promise<string> => textOf((await askAt<unknown>(sessionPath(id, "fork"), "POST", {message, id: fresh})).value, "id"),
};
