// A real server for the tests: its own data directory, free ports, stopped by its own process id.
import {type ChildProcess, spawn} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";

export const kBinary = process.env["SHEPHERD_BIN"] ?? "";
export const kAgent = process.env["SCRIPTED_AGENT_BIN"] ?? "";

export type Json = Record<string, unknown>;

export class Server {
  readonly directory = mkdtempSync(join(tmpdir(), "shepherd-page-"));
  url = "";
  internal = "";
  token = "";
  wasEnded = false;  // by the test; the page then cannot reach it
  #process: ChildProcess | null = null;
  #listen = "127.0.0.1:0";
  #internalListen = "127.0.0.1:0";
  #runners: number;
  #settings: string[];

  // `settings` are key=value, as for --set; `config` is the text of a configuration file.
  constructor(runners = 0, settings: string[] = [], private config = "") {
    this.#runners = runners;
    this.#settings = settings;
  }

  async start(): Promise<this> {
    const home = this.directory;
    const file = join(home, "shepherd.yaml");
    if (this.config) writeFileSync(file, this.config);
    const child = spawn(kBinary, ["serve", "--json", "--data", join(home, "data"), "--listen", this.#listen,
      "--internal-listen", this.#internalListen, "--runners", String(this.#runners), ...(this.config ? ["--config", file] : []), ...[`claude.program=${kAgent}`, ...this.#settings].flatMap((each) => ["--set", each])], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_RUNTIME_DIR: join(home, "run"), LANG: "C.UTF-8"},
    });
    this.#process = child;
    let noise = "";
    child.stderr.on("data", (data: Buffer) => { noise = (noise + data.toString()).slice(-4000); });
    const ready = await new Promise<Json>((resolve, reject) => {
      createInterface({input: child.stdout}).on("line", (line) => {
        const value = JSON.parse(line) as Json;
        if (value["event"] === "ready") resolve(value);
      });
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}\n${noise}`)));
    });
    this.url = String(ready["public"]).replace(/\/$/, "");
    this.internal = String(ready["internal"]).replace(/\/$/, "");
    // Keeps the ports over a restart, so that the page reconnects.
    this.#listen = new URL(this.url).host;
    this.#internalListen = new URL(this.internal).host;
    this.token = readFileSync(String(ready["adminTokenFile"]), "utf8").trim();
    return this;
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.wasEnded = true;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  // Does something while the server runs with another configuration, and starts it again with its own.
  async configured(config: string, work: () => Promise<unknown>): Promise<void> {
    const own = this.config;
    for (const [each, during] of [[config, work], [own, async () => {}]] as const) {
      await this.end();
      this.config = each;
      await this.start();
      await during();
    }
    this.wasEnded = false;
  }

  async remove(): Promise<void> {
    await this.end("SIGKILL");
    rmSync(this.directory, {recursive: true, force: true});
  }

  async call(method: string, path: string, body?: unknown, base = this.url): Promise<Json> {
    const answer = await fetch(base + path, {
      method, headers: {Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : {"Content-Type": "application/json"})},
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text ? JSON.parse(text) : {}) as Json;
  }

  create(task: Json): Promise<Json> {
    return this.call("POST", "/api/v1/tasks", task);
  }
  post(id: string, events: Json[]): Promise<Json> {
    return this.call("POST", `/api/v1/tasks/${id}/events`, {events}, this.internal);
  }
  status(id: string, event: string, more: Json = {}): Promise<Json> {
    return this.call("POST", `/api/v1/tasks/${id}/status`, {event, ...more}, this.internal);
  }
  // The page's address for a browser, to whose name the session's cookie belongs. Browsers resolve it, Node does not.
  get page(): string {
    return this.url.replace("127.0.0.1", "shepherd.localhost");
  }
  async loginLink(): Promise<string> {
    return String((await this.call("POST", "/api/v1/login-links"))["url"]);
  }
}
