// The client against a real server on loopback that is too busy.
import {createServer, type Server, type ServerResponse} from "node:http";
import type {AddressInfo} from "node:net";
import {afterEach, beforeEach, expect, test} from "vitest";
import {ApiError, askAt} from "./client";

let server: Server;
let asked: number;
let answers: ((response: ServerResponse) => void)[];
const busy = (status: number, after?: string) => (response: ServerResponse) =>
  void response.writeHead(status, after === undefined ? {} : {"Retry-After": after}).end('{"code":"busy","detail":"Too many requests wait."}');
const good = (response: ServerResponse) => void response.end('{"a":1}');
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;

beforeEach(async () => {
  [asked, answers] = [0, []];
  server = createServer((_, response) => {
    ++asked;
    (answers.shift() ?? good)(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }));

test.each([429, 503])("the pause that a %i asks for reaches the caller, and nothing is repeated here", async (status) => {
  answers = [busy(status, "7"), busy(status)];
  await expect(askAt(address(), "GET")).rejects.toMatchObject({status, code: "busy", message: "Too many requests wait.", retryAfterMs: 7000});
  await expect(askAt(address(), "POST", {})).rejects.toBeInstanceOf(ApiError);
  expect(asked).toBe(2);
});

test("a read ends when its caller no longer wants the answer", async () => {
  const wish = new AbortController();
  answers = [() => wish.abort()];
  await expect(askAt(address(), "GET", undefined, wish.signal)).rejects.toMatchObject({name: "AbortError"});
});
