// Whether the server has a model to chat with. Checked whenever the connection opens, because a server may come back with
// another configuration.
import {signal} from "@preact/signals";
import {askAt} from "../api/client";
import {objectOf} from "../model/shape";
import {onCatchUp} from "./live";

export const hasModel = signal<boolean | undefined>(undefined);  // undefined: not known yet

export async function lookForModel(): Promise<boolean> {
  const {value} = await askAt<unknown>("/health", "GET");
  hasModel.value = objectOf(value)?.["model_configured"] === true;
  return hasModel.value;
}

export function startModel(): void {
  onCatchUp(async () => { await lookForModel().catch(() => { hasModel.value ??= false; }); });
}
