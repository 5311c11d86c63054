"""A server on the official Python SDK: python notes_server.py streamable-http|sse, over HTTP on a free port, which it prints."""

import asyncio
import socket
import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("notes", version="1.0")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return f"{a} + {b} = {a + b}"


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts slowly and says how far it is."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"counted to {step}")
        await asyncio.sleep(0.2)
    return f"counted to {steps}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "I am new here.", name="newcomer", description="A tool that was added later.")
    await ctx.notify_tools_changed()
    return "grown"


listener = socket.create_server(("127.0.0.1", 0))
app = server.streamable_http_app() if sys.argv[1] == "streamable-http" else server.sse_app()
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
