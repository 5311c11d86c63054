import {beforeEach, describe, expect, test} from "vitest";
import {ApiError} from "../api/client";
import {Resource, type Clock, type Fetch} from "./resource";

// Time that the test moves, and reads that the test answers.
let timers: {at: number; act: () => void}[];
let time: number;
let hidden: boolean;
let online: Set<() => void>;
const clock: Clock = {
  after: (ms, act) => {
    const timer = {at: time + ms, act};
    timers.push(timer);
    return () => { timers = timers.filter((each) => each !== timer); };
  },
  isHidden: () => hidden,
  onOnline: (act) => {
    online.add(act);
    return () => { online.delete(act); };
  },
};
async function settled(): Promise<void> { for (let n = 0; n < 10; ++n) await Promise.resolve(); }
async function pass(ms: number): Promise<void> {
  for (const until = time + ms; ;) {
    const next = timers.sort((a, b) => a.at - b.at)[0];
    if (!next || next.at > until) { time = until; break; }
    time = next.at;
    timers.shift();
    next.act();
    await settled();
  }
}

interface Asked {
  signal: AbortSignal;
  answer(value: string): Promise<void>;
  fail(error: Error): Promise<void>;
}
let asked: Asked[];
const fetch: Fetch<string> = (signal) => new Promise((resolve, reject) => {
  asked.push({signal, answer: (value) => { resolve(value); return settled(); }, fail: (error) => { reject(error); return settled(); }});
});
const last = () => asked[asked.length - 1]!;
let resource: Resource<string>;

beforeEach(() => {
  [timers, time, hidden, online, asked] = [[], 0, false, new Set(), []];
  resource = new Resource<string>(clock);
});

describe("what is shown", () => {
  test("the newest read wins, whatever the order of the answers", async () => {
    resource.start(fetch);
    resource.start(fetch);
    expect(asked[0]!.signal.aborted).toBe(true);
    await asked[1]!.answer("new");
    await asked[0]!.answer("old");
    expect(resource.state.value).toEqual({value: "new", error: "", missing: false, busy: false});
  });

  test("a late failure of an older read is ignored, too", async () => {
    resource.start(fetch);
    resource.start(fetch);
    await asked[0]!.fail(new Error("late"));
    expect(resource.state.value).toMatchObject({error: "", busy: true});
  });

  test("a failed read keeps the value and says why; retry clears that", async () => {
    resource.start(fetch);
    await last().answer("one");
    resource.retry();
    await last().fail(new Error("broke"));
    expect(resource.state.value).toEqual({value: "one", error: "broke", missing: false, busy: false});
    resource.retry();
    await last().answer("two");
    expect(resource.state.value).toMatchObject({value: "two", error: ""});
  });

  test("another start drops the value, unless it keeps it", async () => {
    resource.start(fetch);
    await last().answer("one");
    resource.start(fetch, {keeps: true});
    expect(resource.state.value).toMatchObject({value: "one", busy: true});
    resource.start(fetch);
    expect(resource.state.value).toMatchObject({value: undefined, busy: true});
  });

  test("what the server does not have is missing", async () => {
    resource.start(fetch);
    await last().fail(new ApiError(404, "not_found", "No such route."));
    expect(resource.state.value).toMatchObject({missing: true, error: "No such route."});
  });

  test("after close nothing changes and nothing is read", async () => {
    resource.start(fetch, {everyMs: 5000});
    resource.close();
    await last().answer("late");
    await pass(60_000);
    expect([resource.state.value.value, asked.length, online.size]).toEqual([undefined, 1, 0]);
    expect(last().signal.aborted).toBe(true);
  });
});

describe("pages", () => {
  test("a second click while a page is read asks nothing", async () => {
    resource.start(fetch);
    await last().answer("a");
    const more: Fetch<string> = async (signal, old) => old + await fetch(signal, old);
    resource.extend(more);
    resource.extend(more);
    expect(asked).toHaveLength(2);
    await last().answer("b");
    expect(resource.state.value.value).toBe("ab");
  });

  test("a page of an earlier question is not added to the answer of a new one", async () => {
    resource.start(fetch);
    await last().answer("a");
    resource.extend(async (signal, old) => old + await fetch(signal, old));
    resource.start(fetch);
    await asked[2]!.answer("z");
    await asked[1]!.answer("b");
    expect(resource.state.value.value).toBe("z");
  });
});

describe("when it reads", () => {
  test("waits before the first read, so that only the last of quick changes is read", async () => {
    for (let n = 0; n < 3; ++n) {
      resource.start(fetch, {pauseMs: 200});
      await pass(100);
    }
    expect(asked).toHaveLength(0);
    await pass(100);
    expect(asked).toHaveLength(1);
  });

  test("polls after each answer, not while one is under way", async () => {
    resource.start(fetch, {everyMs: 5000});
    await pass(60_000);
    expect(asked).toHaveLength(1);
    await last().answer("one");
    await pass(5000);
    expect(asked).toHaveLength(2);
  });

  test("polls become rarer while they fail, and are as often as before after an answer", async () => {
    resource.start(fetch, {everyMs: 5000});
    for (const pause of [10_000, 20_000, 40_000]) {
      await last().fail(new ApiError(0, "unreachable", "The server does not answer."));
      const before = asked.length;
      await pass(pause - 1);
      expect(asked.length).toBe(before);
      await pass(1);
      expect(asked.length).toBe(before + 1);
    }
    await last().answer("there");
    const before = asked.length;
    await pass(5000);
    expect(asked.length).toBe(before + 1);
  });

  test("waits as long as the server asks", async () => {
    resource.start(fetch, {everyMs: 5000});
    await last().fail(new ApiError(503, "busy", "Busy.", 90_000));
    await pass(89_999);
    expect(asked).toHaveLength(1);
    await pass(1);
    expect(asked).toHaveLength(2);
  });

  test("asks no more when the session has ended", async () => {
    resource.start(fetch, {everyMs: 5000});
    await last().fail(new ApiError(401, "unauthorized", "Log in."));
    await pass(3_600_000);
    expect(asked).toHaveLength(1);
  });

  test("a hidden tab asks nothing", async () => {
    resource.start(fetch, {everyMs: 5000});
    await last().answer("one");
    hidden = true;
    await pass(60_000);
    expect(asked).toHaveLength(1);
    hidden = false;
    await pass(5000);
    expect(asked).toHaveLength(2);
  });

  test("a network that is back ends the pause after a failure", async () => {
    resource.start(fetch, {everyMs: 5000});
    await last().fail(new ApiError(0, "unreachable", "The server does not answer."));
    online.forEach((act) => act());
    expect(asked).toHaveLength(2);
  });
});
