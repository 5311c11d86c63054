// Failures that a test causes on purpose. The browser logs each failure on its console, and any unexpected error there
// fails the test (fixture.ts).
const kLost = /ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_SOCKET|ERR_FAILED|ERR_NETWORK|WebSocket connection/;

export class Expected {
  #answers: {status: number; path: RegExp}[] = [];
  #lost = false;

  constructor(private readonly server: {readonly wasEnded: boolean}) {}

  // Expects an answer with this status to requests whose path and query match.
  answer(status: number, path: RegExp): void {
    this.#answers.push({status, path});
  }
  // Expects a lost network or answer. A server that the test itself ended needs no such call.
  lost(): void {
    this.#lost = true;
  }
  covers(words: string, url: string): boolean {
    const status = Number(/status of (\d+) /.exec(words)?.[1] ?? /Unexpected response code: (\d+)/.exec(words)?.[1] ?? 0);
    if (status === 0) return (this.#lost || this.server.wasEnded) && kLost.test(words);
    const address = /'(wss?:[^']+)'/.exec(words)?.[1] ?? url;
    const {pathname, search} = new URL(address);
    return this.#answers.some((each) => each.status === status && each.path.test(pathname + search));
  }
}
