// The tab's one WebSocket. It reports its state honestly, reconnects on its own and detects a dead peer: it requests a
// sign of life and treats silence as an end. It does not recover missed events; a view fills its log by number after
// `caught_up` (state/task_view.ts).
import type {StreamMessage} from "../api/types";

export type LiveState = "connecting" | "live" | "catching_up" | "disconnected" | "ended";

export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: ((event: Event) => void) | null;
  onmessage: ((frame: MessageEvent) => void) | null;
  onclose: ((close: CloseEvent) => void) | null;
}

export interface Surroundings {
  open(path: string): Socket;
  now(): number;
  after(ms: number, act: () => void): () => void;  // returns a function that cancels it
  random(): number;
}

export interface Listener {
  // The socket is open. Reads what was missed and resolves when that is done.
  catchUp(): Promise<void>;
  message(message: StreamMessage): void;
  state(state: LiveState, since: number, reason: string): void;
  // The socket could not be opened `times` times in a row. A browser does not say why; the session may have ended.
  notOpened(times: number): void;
}

const kFirstPauseMs = 250;
const kLongestPauseMs = 8_000;
const kConnectMs = 10_000;
const kSignEveryMs = 10_000;
const kSilenceMs = 8_000;

export class Connection {
  #socket: Socket | null = null;
  #isOpen = false;
  #path = "";
  #pauseMs = kFirstPauseMs;
  #cancel: () => void = () => {};
  #heardAt = 0;
  #generation = 0;
  #notOpened = 0;

  constructor(private readonly world: Surroundings, private readonly listener: Listener) {}

  // Follows this address from now on. Tries it at once but does not reset the retry pause.
  follow(path: string): void {
    if (path === this.#path && this.#socket) return;
    this.#path = path;
    this.#open();
  }

  // The network is back, or the tab was asleep. Does not wait for the pause to end and does not trust a socket that
  // looks open.
  wake(): void {
    if (!this.#path) return;
    this.#pauseMs = kFirstPauseMs;
    if (this.#isOpen) this.#askForSign();
    else if (!this.#socket) this.#open();
  }

  stop(): void {
    ++this.#generation;
    this.#path = "";
    this.#cancel();
    this.#drop();
  }

  send(message: object): boolean {
    if (!this.#socket || !this.#isOpen) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #open(): void {
    const generation = ++this.#generation;
    this.#cancel();
    this.#drop();
    const socket = this.world.open(this.#path);
    this.#socket = socket;
    this.#cancel = this.world.after(kConnectMs, () => this.#lost("The server does not answer."));
    this.listener.state("connecting", this.world.now(), "");
    const isOld = () => generation !== this.#generation;
    socket.onopen = () => {
      if (isOld()) return;
      this.#isOpen = true;
      this.#notOpened = 0;
      this.#heard();
      this.listener.state("catching_up", this.world.now(), "");
      this.#expectSign();
      this.listener.catchUp().then(
        () => {
          if (isOld()) return;
          this.#pauseMs = kFirstPauseMs;
          this.listener.state("live", this.world.now(), "");
        },
        () => { if (!isOld()) this.#lost("The server does not answer."); });
    };
    socket.onmessage = (frame) => {
      if (isOld()) return;
      this.#heard();
      if (typeof frame.data === "string") this.listener.message(JSON.parse(frame.data) as StreamMessage);
    };
    socket.onclose = (close) => {
      if (isOld()) return;
      if (close.code >= 4100 && close.code < 4200) {
        this.#drop();
        this.#cancel();
        this.listener.state("ended", this.world.now(), close.reason);
      } else {
        this.#lost(close.reason);
      }
    };
  }

  #heard(): void {
    this.#heardAt = this.world.now();
  }

  // Browsers hide pings from a page, so the page sends a request that every server answers, kSignEveryMs after the last
  // received message, not after the last check.
  #expectSign(): void {
    this.#cancel();
    this.#cancel = this.world.after(Math.max(0, this.#heardAt + kSignEveryMs - this.world.now()), () => {
      if (this.world.now() - this.#heardAt < kSignEveryMs) this.#expectSign();
      else this.#askForSign();
    });
  }

  #askForSign(): void {
    this.#cancel();
    const asked = this.world.now();
    this.send({type: "sign_of_life"});
    this.#cancel = this.world.after(kSilenceMs, () => {
      if (this.#heardAt >= asked) this.#expectSign();
      else this.#lost("The connection went silent.");
    });
  }

  #lost(reason: string): void {
    ++this.#generation;
    const opened = this.#isOpen;
    this.#drop();
    this.#cancel();
    this.listener.state("disconnected", this.world.now(), reason);
    this.#cancel = this.world.after(this.#pauseMs * (0.75 + this.world.random() / 2), () => this.#open());
    this.#pauseMs = Math.min(this.#pauseMs * 2, kLongestPauseMs);
    if (!opened) this.listener.notOpened(++this.#notOpened);
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#isOpen = false;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
}
