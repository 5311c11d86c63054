import {describe, expect, it} from "vitest";
import {Intents} from "./intents";

function world() {
  let made = 0;
  const asked: string[] = [];
  const intents = new Intents(() => `id-${++made}`, (error) => error === "lost");
  const ask = (intent: string, outcome: Promise<string>) => intents.ask(intent, (id) => {
    asked.push(id);
    return outcome;
  });
  return {asked, ask};
}

describe("intents", () => {
  it("keep their id while no answer came", async () => {
    const {asked, ask} = world();
    await expect(ask("approve a1", Promise.reject("lost"))).rejects.toBe("lost");
    await expect(ask("approve a1", Promise.reject("lost"))).rejects.toBe("lost");
    await expect(ask("approve a1", Promise.resolve("done"))).resolves.toBe("done");
    expect(asked).toEqual(["id-1", "id-1", "id-1"]);
  });
  it("end with a definite answer: the same words again are a new one", async () => {
    const {asked, ask} = world();
    await ask("steer hello", Promise.resolve("done"));
    await ask("steer hello", Promise.resolve("done"));
    await expect(ask("steer hello", Promise.reject("refused"))).rejects.toBe("refused");
    await ask("steer hello", Promise.resolve("done"));
    expect(asked).toEqual(["id-1", "id-2", "id-3", "id-4"]);
  });
  it("are asked once when asked for twice at a time", async () => {
    const {asked, ask} = world();
    expect(await Promise.all([ask("stop", Promise.resolve("done")), ask("stop", Promise.resolve("other"))])).toEqual(["done", "done"]);
    expect(asked).toEqual(["id-1"]);
  });
  it("differ when their words differ", async () => {
    const {asked, ask} = world();
    await expect(ask("deny a1", Promise.reject("lost"))).rejects.toBe("lost");
    await ask("approve a1", Promise.resolve("done"));
    expect(asked).toEqual(["id-1", "id-2"]);
  });
});
