// The client against a real server on loopback that is too busy.
import {createServer, type Server, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import {afterEach, beforeEach, expect, test} from "vitest";
import {ApiError, askAt} from "./client";

let server: Server;
let times: number[];
let answers: ((response: ServerResponse) => void)[];
const busy = (status: number, after?: string) => (response: ServerResponse) =>
  void response.writeHead(status, after === undefined ? {} : {"Retry-After": after}).end('{"code":"busy","detail":"Too many requests wait."}');
const good = (response: ServerResponse) => void response.end('{"a":1}');
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;

beforeEach(async () => {
  [times, answers] = [[], []];
  server = createServer((_, response) => {
    times.push(performance.now());
    (answers.shift() ?? good)(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }));

test.each([429, 503])("a read is repeated after the pause that a %i asks for", async (status) => {
  answers = [busy(status, "1")];
  expect((await askAt(address(), "GET")).value).toEqual({a: 1});
  expect(times[1]! - times[0]!).toBeGreaterThan(950);
});

test("a server that stays busy is asked three times", async () => {
  answers = [busy(503, "0"), busy(503, "0"), busy(503, "0")];
  await expect(askAt(address(), "GET")).rejects.toMatchObject({status: 503, code: "busy", message: "Too many requests wait."});
  expect(times).toHaveLength(3);
  expect(times[2]! - times[1]!).toBeGreaterThan(950);  // twice the first pause
});

test("a long pause is the caller's, and a write is never repeated", async () => {
  answers = [busy(503, "600"), busy(503, "0"), busy(429)];
  await expect(askAt(address(), "GET")).rejects.toMatchObject({retryAfterMs: 600_000});
  await expect(askAt(address(), "POST", {})).rejects.toMatchObject({status: 503, retryAfterMs: 0});
  await expect(askAt(address(), "POST", {})).rejects.toBeInstanceOf(ApiError);
  expect(times).toHaveLength(3);
});

test("a pause ends when its caller no longer wants the answer", async () => {
  const wish = new AbortController();
  answers = [(response) => { busy(503, "4")(response); setTimeout(() => wish.abort(), 50); }];
  await expect(askAt(address(), "GET", undefined, wish.signal)).rejects.toMatchObject({name: "AbortError"});
  expect(times).toHaveLength(1);
});
