// The tab's one WebSocket. It says honestly how things stand, comes back by itself, and notices a peer that is gone
// without a word: it asks for a sign of life and takes silence for an end. What is missed meanwhile is not its
// business: whoever shows a log fills it up by number once `caught_up` has been called (state/task_view.ts).
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
  after(ms: number, act: () => void): () => void;  // returns what cancels it
  random(): number;
}

export interface Listener {
  // The socket is open: read what was missed, then say so by resolving.
  catchUp(): Promise<void>;
  message(message: StreamMessage): void;
  state(state: LiveState, since: number, reason: string): void;
  // It could not be opened, so many times in a row. A browser does not say why: perhaps the session has ended.
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

  // Follows this address from now on, tried at once. A server that answered nothing good is not asked more often for it.
  follow(path: string): void {
    if (path === this.#path && this.#socket) return;
    this.#path = path;
    this.#open();
  }

  // The network is back, or the tab was asleep: do not wait for the pause to end, nor trust a socket that looks open.
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

  // Browsers do not show pings to a page, so it asks a question that every server answers: kSignEveryMs after the last
  // thing it heard, not after the last time it looked.
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
