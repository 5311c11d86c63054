import asyncio
import json


class ShepherdClient:
    def __init__(self, base_url: str, api_key: str = None):
        self.base_url = base_url
        self.api_key = api_key
        self.context_size = 0
        self.model_name = ""
        self.total_tokens = 0

        # Fetch initial session state
        session = self.get_session()
        self.context_size = session.get("context_size", 0)
        self.model_name = session.get("model", "")
        self.total_tokens = session.get("total_tokens", 0)

        # Display existing messages
        for msg in session.get("messages", []):
            self.display_message(msg)

        # Start SSE listener
        self.start_sse_listener()

    async def sse_listener(self):
        while self.running:
            try:
                async with self.http_client.stream("GET", f"{self.base_url}/updates") as response:
                    async for line in response.aiter_lines():
                        if line.startswith("data: "):
                            data = json.loads(line[6:])
                            await self.handle_event(data)
            except ConnectionError:
                # Reconnect after delay
                await asyncio.sleep(2)

    async def handle_event(self, event: dict):
        event_type = event.get("type", "")
        event_data = event.get("data", {})

        if event_type == "delta":
            self.on_delta(event_data["delta"])
        elif event_type == "message_added":
            self.on_message_added(event_data)
        elif event_type == "tool_call":
            self.on_tool_call(event_data)
        elif event_type == "tool_result":
            self.on_tool_result(event_data)
        elif event_type == "response_complete":
            self.on_response_complete(event_data)
        elif event_type == "error":
            self.on_error(event_data["error"])
        elif event_type == "eviction":
            self.on_eviction(event_data)
        elif event_type == "codeblock":
            self.on_codeblock(event_data["content"])

    async def send_message(self, prompt: str, max_tokens: int = 0) -> dict:
        request = {"prompt": prompt, "stream": False}
        if max_tokens != 0:
            request["max_tokens"] = max_tokens
        response = await self.http_client.post(
            f"{self.base_url}/request",
            json=request,
            headers=self.get_headers()
        )
        return response.json()

    def on_delta(self, text: str):
        """Streaming text chunk - append to current response"""
        self.current_response += text
        self.update_display(text)

    def on_message_added(self, data: dict):
        """Complete message added to session"""
        role = data["role"]
        content = data["content"]
        tokens = data.get("tokens", 0)
        self.messages.append({"role": role, "content": content, "tokens": tokens})
        self.total_tokens = sum(m.get("tokens", 0) for m in self.messages)

    def on_tool_call(self, data: dict):
        """Display tool call - server executes it"""
        tool_name = data["tool_call"]
        params = data.get("parameters", {})
        self.display_tool_call(tool_name, params)

    def on_tool_result(self, data: dict):
        """Display tool result"""
        success = data["success"]
        error = data.get("error", "")
        self.display_tool_result(data["tool_name"], success, error)

    def on_response_complete(self, data: dict):
        """Generation finished"""
        self.generating = False
        self.save_chat()

    def on_error(self, error: str):
        """Display error"""
        self.display_error(error)

    def on_eviction(self, data: dict):
        """Messages were evicted"""
        count = data["messages_evicted"]
        tokens = data["tokens_freed"]
        self.display_notification(f"{count} older messages removed ({tokens} tokens freed)")
        # Remove oldest messages from local state
        self.messages = self.messages[count:]

    def on_codeblock(self, content: str):
        """Code block content"""
        self.current_response += content
        self.update_display_code(content)

    def get_headers(self):
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers


class ReconnectingClient(ShepherdClient):
    async def sse_listener(self):
        while self.running:
            try:
                async with self.connect_sse() as stream:
                    async for event in stream:
                        await self.handle_event(event)
            except (ConnectionError, TimeoutError):
                if self.running:
                    await asyncio.sleep(2)  # Wait before reconnect
