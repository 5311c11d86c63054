import asyncio
import httpx
import json

class MinimalShepherdClient:
    def __init__(self, base_url: str):
        self.base_url = base_url
        self.running = True

    async def run(self):
        # Start SSE listener in background
        asyncio.create_task(self.sse_listener())

        # Interactive loop
        async with httpx.AsyncClient() as client:
            while True:
                prompt = input("> ")
                if prompt.lower() == "quit":
                    break
                await client.post(
                    f"{self.base_url}/request",
                    json={"prompt": prompt, "stream": False}
                )

        self.running = False

    async def sse_listener(self):
        async with httpx.AsyncClient() as client:
            while self.running:
                try:
                    async with client.stream("GET", f"{self.base_url}/updates") as r:
                        async for line in r.aiter_lines():
                            if line.startswith("data: "):
                                event = json.loads(line[6:])
                                self.handle_event(event)
                except Exception:
                    await asyncio.sleep(2)

    def handle_event(self, event: dict):
        t = event.get("type", "")
        d = event.get("data", {})

        if t == "delta":
            print(d.get("delta", ""), end="", flush=True)
        elif t == "response_complete":
            print()  # Newline after response
        elif t == "tool_call":
            print(f"\n[Tool: {d.get('tool_call')}]")
        elif t == "error":
            print(f"\nError: {d.get('error')}")
        elif t == "eviction":
            print(f"\n[{d.get('messages_evicted')} messages evicted]")

if __name__ == "__main__":
    client = MinimalShepherdClient("http://localhost:8080")
    asyncio.run(client.run())
