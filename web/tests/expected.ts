// What a test makes fail on purpose. The browser says each failure on its console, and an error there that no test asked for
// fails the test (fixture.ts).
const kLost = /ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_SOCKET|ERR_FAILED|ERR_NETWORK|WebSocket connection/;

export class Expected {
  #answers: {status: number; path: RegExp}[] = [];
  #lost = false;

  constructor(private readonly server: {readonly wasEnded: boolean}) {}

  // An answer of this status to requests whose path and query match.
  answer(status: number, path: RegExp): void {
    this.#answers.push({status, path});
  }
  // The network goes away, or an answer does. That a server is gone which the test ended needs no word.
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
