// The real Claude Code under `shepherd run`, with a scripted model on loopback, a temporary home and a worthless key.
// It starts the programs of tests/e2e.
import {type ChildProcess, spawn} from "node:child_process";
import {existsSync, mkdirSync} from "node:fs";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {fileURLToPath} from "node:url";
import {kBinary, type Server} from "./server";

export const kClaude = process.env["CLAUDE_BIN"] ?? fileURLToPath(new URL("../../build/agents/claude", import.meta.url));
export const hasClaude = existsSync(kClaude) || process.env["CI"] === "true";  // continuous integration must have it
const kModels = fileURLToPath(new URL("../../tests/e2e", import.meta.url));

export class RealAgent {
  #programs: ChildProcess[] = [];

  constructor(private readonly server: Server) {}

  // `replies` is Python, as in tests/e2e/model_api.py.
  async run(id: string, replies: string): Promise<void> {
    const script = `import sys\nfrom model_api import ModelAPI, Reply, text, tool\napi = ModelAPI([${replies}]).start()\nprint(api.url, flush=True)\nsys.stdin.read()\n`;
    const model = this.#start("python3", ["-c", script], kModels, {PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1"});
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({input: model.stdout!}).once("line", resolve);
      model.once("exit", (code) => reject(new Error(`the model ended with ${code}`)));
    });
    const [home, work] = ["home", "work"].map((name) => join(this.server.directory, name));
    for (const each of [home!, work!]) mkdirSync(each);
    this.#start(kBinary, ["run", "do what the script says", "--id", id, "--agent", "claude", "--program", kClaude, "--mode", "interactive"], work!, {
      PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", TERM: "dumb", ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-test",
      DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", DISABLE_ERROR_REPORTING: "1", CLAUDE_CODE_MAX_RETRIES: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      SHEPHERD_URL: this.server.url, SHEPHERD_TOKEN: this.server.token, SHEPHERD_DATA: join(this.server.directory, "data"),
    });
  }

  async end(): Promise<void> {
    for (const program of this.#programs.reverse()) {
      if (program.exitCode !== null || program.signalCode !== null) continue;
      const gone = new Promise((resolve) => program.once("exit", resolve));
      program.kill("SIGTERM");
      await gone;
    }
  }

  #start(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(program, args, {cwd, env, stdio: ["pipe", "pipe", "ignore"]});
    this.#programs.push(child);
    if (program === kBinary) child.stdout!.resume();
    return child;
  }
}
