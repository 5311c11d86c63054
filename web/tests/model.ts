// A model's backend for the tests, on loopback: it speaks OpenAI's streaming dialect as llama.cpp does, and the first word
// of the last prompt chooses its answer. A gate holds an answer until the test opens it.
import {createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import type {Json} from "./server";

interface Message {
  role: string;
  content: string | null;
}
type Step = string | Promise<void> | {reasoning: string} | {tools: [string, Json][]};

const text = (message: Message) => message.content ?? "";

export class FakeModel {
  readonly requests: Message[][] = [];  // the messages of each call
  tokens = 0;                           // to report for the next prompts; 0: one per character
  #server: HttpServer = createServer((request, response) => void this.#serve(request, response).catch(() => response.destroy()));
  #gates = new Map<string, {opened: Promise<void>; open: () => void}>();
  #calls = 0;

  constructor(private readonly context = 8192, private readonly name = "fake-1") {}

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }
  async stop(): Promise<void> {
    for (const gate of this.#gates.values()) gate.open();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }
  // The text of a server's configuration with this model.
  config(chat: Json = {}, entry: Json = {}): string {
    return JSON.stringify({models: {local: {type: "openai", url: this.url, ...entry}}, chat});
  }
  #gate(name: string) {
    let gate = this.#gates.get(name);
    if (!gate) {
      let open = () => {};
      gate = {opened: new Promise<void>((resolve) => { open = resolve; }), open: () => open()};
      this.#gates.set(name, gate);
    }
    return gate;
  }
  open(name: string): void {
    this.#gate(name).open();
  }

  // HOLD: begins, and goes on when its gate is open. SAY: as it is. RUN, READ: tools. TWO: two tools at once.
  #answer(messages: Message[]): Step[] | number {
    const asked = messages.map((each) => each.role).lastIndexOf("user");
    const [word = "", ...words] = text(messages[asked]!).split(" ");
    const rest = words.join(" ");
    const isAfterTool = messages.slice(asked).some((each) => each.role === "tool");
    if (isAfterTool) return ["The tool said: ", text(messages[messages.length - 1]!).slice(0, 200)];
    switch (word) {
      case "SAY": return rest.match(/[^]{1,7}/g) ?? [];
      case "HOLD": return ["Beginning", " of it,", this.#gate(rest).opened, " and the end."];
      case "GATES": return ["One,", this.#gate(`${rest} 1`).opened, " two,", this.#gate(`${rest} 2`).opened, " three."];
      case "CODE": return ["See:\n", "```py\nprint(", "1)\n", this.#gate(rest).opened, "print(2)\n```\n", "Done."];
      case "THINK": return [{reasoning: "Let me ponder."}, "Thought."];
      case "RUN": return [{tools: [["run_command", {command: rest}]]}];
      case "READ": return ["I look.", {tools: [["read_file", {path: rest || "notes.txt"}]]}];
      case "TWO": return [{tools: [["read_file", {path: "notes.txt"}], ["read_file", {path: "missing.txt"}]]}];
      case "FAIL": return 400;
      default: return ["The capital", " of France", " is **Paris**."];
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = (chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}) as {messages?: Message[]};
    const json = (status: number, value: unknown) => response.writeHead(status, {"Content-Type": "application/json"}).end(JSON.stringify(value));
    const counted = (body.messages ?? []).reduce((sum, each) => sum + text(each).length, 0);
    switch (new URL(request.url ?? "/", "http://x").pathname) {
      case "/v1/models": return void json(200, {object: "list", data: [{id: this.name, object: "model", created: 1790000000, owned_by: "llamacpp", meta: {n_ctx_train: this.context}}]});
      case "/props": return void json(200, {default_generation_settings: {n_ctx: this.context}, total_slots: 1});
      case "/health": return void json(200, {status: "ok"});
      case "/v1/chat/completions/input_tokens": return void json(200, {object: "response.input_tokens", input_tokens: this.tokens || counted});
      case "/v1/chat/completions": break;
      default: return void json(404, {error: {message: "no such path", code: 404}});
    }
    const messages = body.messages ?? [];
    this.requests.push(messages);
    const steps = this.#answer(messages);
    if (typeof steps === "number") return void json(steps, {error: {message: "The model has no idea", type: "invalid_request_error", param: null, code: null}});
    response.writeHead(200, {"Content-Type": "text/event-stream"});
    const frame = (value: Json) => response.write(`data: ${JSON.stringify({id: "chatcmpl-fake", object: "chat.completion.chunk", created: 1790000000, model: this.name, ...value})}\n\n`);
    const chunk = (delta: Json, finish: string | null = null) => frame({choices: [{index: 0, delta, finish_reason: finish}]});
    chunk({role: "assistant", content: null});
    let finish = "stop";
    let said = 1;
    for (const step of steps) {
      if (step instanceof Promise) await step;
      else if (typeof step === "string") {
        chunk({content: step});
        said += step.length;
      }
      else if ("reasoning" in step) chunk({reasoning_content: step.reasoning});
      else {
        finish = "tool_calls";
        step.tools.forEach(([name, input], index) => {
          const written = JSON.stringify(input);
          chunk({tool_calls: [{index, id: `call_${++this.#calls}`, type: "function", function: {name, arguments: ""}}]});
          for (const part of [written.slice(0, 5), written.slice(5)]) chunk({tool_calls: [{index, function: {arguments: part}}]});
        });
      }
      if (response.destroyed) return;
    }
    chunk({}, finish);
    frame({choices: [], usage: {prompt_tokens: this.tokens || counted, completion_tokens: said, total_tokens: (this.tokens || counted) + said}});
    response.end("data: [DONE]\n\n");
  }
}
