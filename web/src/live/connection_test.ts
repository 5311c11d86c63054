import {beforeEach, describe, expect, it} from "vitest";
import {Connection, type LiveState, type Socket} from "./connection";

// Only the members that the connection reads.
const opened = {} as Event;
const frame = (data: string) => ({data}) as MessageEvent;
const closed = (code: number, reason = "") => ({code, reason}) as CloseEvent;

class FakeSocket implements Socket {
  sent: string[] = [];
  closed = false;
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  constructor(readonly path: string) {}
  send(text: string) { this.sent.push(text); }
  close() { this.closed = true; }
}

// A simulated world with its own time.
class World {
  time = 0;
  sockets: FakeSocket[] = [];
  timers: {at: number; act: () => void}[] = [];
  open = (path: string) => {
    const socket = new FakeSocket(path);
    this.sockets.push(socket);
    return socket;
  };
  now = () => this.time;
  random = () => 0.5;
  after = (ms: number, act: () => void) => {
    const timer = {at: this.time + ms, act};
    this.timers.push(timer);
    return () => { this.timers = this.timers.filter((each) => each !== timer); };
  };
  pass(ms: number) {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.timers = this.timers.filter((each) => each !== next);
      this.time = next.at;
      next.act();
    }
    this.time = end;
  }
  get socket() { return this.sockets[this.sockets.length - 1]!; }
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("connection", () => {
  let world: World;
  let states: LiveState[];
  let messages: unknown[];
  let catchUps: number;
  let fails: boolean;
  let notOpened: number[];
  let connection: Connection;
  beforeEach(() => {
    world = new World();
    states = [];
    messages = [];
    catchUps = 0;
    fails = false;
    notOpened = [];
    connection = new Connection(world, {
      catchUp: () => { ++catchUps; return fails ? Promise.reject(new Error("no")) : Promise.resolve(); },
      message: (message) => messages.push(message),
      state: (state) => states.push(state),
      notOpened: (times) => notOpened.push(times),
    });
  });

  it("is live only once what was missed has been read", async () => {
    connection.follow("/a");
    world.socket.onopen!(opened);
    expect(states).toEqual(["connecting", "catching_up"]);
    await settle();
    expect(states.at(-1)).toBe("live");
    expect(catchUps).toBe(1);
  });

  it("says how often in a row it could not be opened, and not of one that was open", async () => {
    connection.follow("/a");
    world.socket.onclose!(closed(1006));
    world.pass(400);
    world.socket.onclose!(closed(1006));
    expect(notOpened).toEqual([1, 2]);
    world.pass(700);
    world.socket.onopen!(opened);
    await settle();
    world.socket.onclose!(closed(1006));
    expect(notOpened).toEqual([1, 2]);
    world.pass(400);
    world.socket.onclose!(closed(1006));
    expect(notOpened).toEqual([1, 2, 1]);
  });

  it("is over when it is stopped", () => {
    connection.follow("/a");
    const socket = world.socket;
    connection.stop();
    expect(socket.closed).toBe(true);
    world.pass(60_000);
    connection.wake();
    expect(world.sockets).toHaveLength(1);
  });

  it("comes back after a loss, with growing pauses, and catches up again", async () => {
    connection.follow("/a");
    world.socket.onclose!(closed(1006));
    expect(states.at(-1)).toBe("disconnected");
    world.pass(300);
    expect(world.sockets.length).toBe(2);
    world.socket.onclose!(closed(1006));
    world.pass(300);
    expect(world.sockets.length).toBe(2);
    world.pass(300);
    expect(world.sockets.length).toBe(3);
    world.socket.onopen!(opened);
    await settle();
    expect(states.at(-1)).toBe("live");
  });

  it("does not come back when it is told not to", () => {
    connection.follow("/a");
    world.socket.onopen!(opened);
    world.socket.onclose!(closed(4101, "token revoked"));
    world.pass(60_000);
    expect(world.sockets.length).toBe(1);
    expect(states.at(-1)).toBe("ended");
  });

  it("takes silence for an end", async () => {
    connection.follow("/a");
    world.socket.onopen!(opened);
    await settle();
    world.pass(10_000);
    expect(world.socket.sent.length).toBe(1);
    world.pass(8_000);
    expect(states).toContain("disconnected");
    expect(world.sockets[0]!.closed).toBe(true);
  });

  it("an answer is a sign of life", async () => {
    connection.follow("/a");
    world.socket.onopen!(opened);
    await settle();
    world.pass(10_000);
    world.socket.onmessage!(frame('{"type":"error","data":{}}'));
    world.pass(9_000);
    expect(states.at(-1)).toBe("live");
  });

  it("after sleep it asks at once", async () => {
    connection.follow("/a");
    world.socket.onopen!(opened);
    await settle();
    world.time += 3_600_000;
    connection.wake();
    expect(world.socket.sent.length).toBe(1);
    world.pass(8_000);
    expect(states).toContain("disconnected");
  });

  it("messages of an address that is no longer followed are not heard", async () => {
    connection.follow("/a");
    const old = world.socket;
    old.onopen!(opened);
    connection.follow("/b");
    old.onmessage?.(frame('{"type":"task_event"}'));
    expect(messages).toEqual([]);
    expect(old.closed).toBe(true);
  });

  it("a failed catching up is a loss", async () => {
    fails = true;
    connection.follow("/a");
    world.socket.onopen!(opened);
    await settle();
    expect(states.at(-1)).toBe("disconnected");
  });
});
