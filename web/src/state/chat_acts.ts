// What a person does with a chat beyond commands: begin one, fork it. One id for one intent, so that a repeat after a lost
// answer makes nothing twice.
import {api, ApiError} from "../api/client";
import {chatApi} from "../api/chat";
import type {Task} from "../api/types";
import {plainLine} from "../model/hidden";
import {Intents} from "../model/intents";
import {createTask, isLost, newID} from "./commands";
import {kChatAgent} from "./route";

const kMostTitle = 80;  // characters

const intents = new Intents(newID, isLost);

export const beginChat = (prompt: string): Promise<Task> => createTask({prompt, agent: kChatAgent, mode: "interactive"});

// A new session with the whole turns through this event; its id.
export async function forkChat(id: string, through: number, title: string): Promise<string> {
  const forked = await intents.ask(JSON.stringify([id, through]), async (fresh) => {
    try {
      return await chatApi.fork(id, through, fresh);
    } catch (error) {
      // An earlier request with this id, whose answer was lost, has made it.
      if (error instanceof ApiError && error.code === "task_exists") return fresh;
      throw error;
    }
  });
  const words = plainLine(title).replace(/^Fork: /, "");
  if (words) await api.rename(forked, `Fork: ${words.slice(0, kMostTitle)}`).catch(() => {});
  return forked;
}
