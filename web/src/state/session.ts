// The page's user. Without a session the page only shows how to get one.
import {signal} from "@preact/signals";
import {api, ApiError, session} from "../api/client";
import type {WhoAmI} from "../api/types";

export const me = signal<WhoAmI | null>(null);
export const loggedOut = signal(false);
export const startError = signal("");

export const mayCommand = () => me.value?.scope === "admin" || me.value?.scope === "operator";

export async function findOutWho(): Promise<boolean> {
  try {
    me.value = await api.whoami();
    startError.value = "";
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) loggedOut.value = true;
    else startError.value = (error as Error).message;
    return false;
  }
}

session.ended = () => { loggedOut.value = true; };

export async function logOut(): Promise<void> {
  await api.logout();
  location.assign("/");
}
