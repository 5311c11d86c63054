// Events as a runner posts them: recorded output of the real Claude Code, translated by the program itself. A test may
// replace texts in the records; their form stays the agent's.
import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {kBinary, type Json} from "./server";

const kRecordings = fileURLToPath(new URL("../../tests/golden/claude/recordings", import.meta.url));

interface Block {
  type: string;
  text?: string;
  content?: unknown;
  input?: Json;
}

export function recorded(name: string, change: (block: Block) => void): Json[] {
  const lines = readFileSync(join(kRecordings, `${name}.jsonl`), "utf8").split("\n").filter(Boolean).map((line) => {
    const record = JSON.parse(line) as {message?: {content?: unknown}};
    if (Array.isArray(record.message?.content)) (record.message.content as Block[]).forEach(change);
    return JSON.stringify(record);
  });
  const out = execFileSync(kBinary, ["translate", "--agent", "claude", "--detail"], {input: lines.join("\n"), encoding: "utf8", maxBuffer: 64 * 1024 * 1024});
  return out.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Json);
}
