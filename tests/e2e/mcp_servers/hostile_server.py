"""An MCP server that misbehaves: python hostile_server.py MODE. It needs nothing but Python, and speaks the legacy version.

Its tool `work` does what the mode says; `good` always answers. The modes that begin with "start-" never get that far.
"""

import json
import os
import subprocess
import sys
import time

mode = sys.argv[1]
out = sys.stdout.buffer


def say(**members):
    out.write(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")
    out.flush()


def flood():
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 200}}).encode() + b"\n"
    while True:
        out.write(line * 500)


def work(number):
    if mode == "dies":
        print("I cannot go on", file=sys.stderr, flush=True)
        os._exit(3)
    if mode == "silent":
        return
    if mode == "floods":
        flood()
    if mode == "long":
        piece = b"x" * 1_000_000
        for _ in range(100):
            out.write(piece)
        out.write(b"\n")
        out.flush()
    if mode == "nonsense":
        for text in (b"}{", b"null", b"[1,2]", b"\xff\xfe", b'{"jsonrpc":"2.0","id":{},"result":{}}', b'{"id":' + str(number).encode(), b'"', b"{" * 5000):
            out.write(text + b"\n")
        out.flush()
    if mode == "wrong":  # a result that is no result
        return say(id=number, result=[1, 2, 3])
    if mode == "stderr":
        for _ in range(20_000):
            sys.stderr.write("noise " * 50 + "\n")
    say(id=number, result={"content": [{"type": "text", "text": f"worked with {os.getpid()}"}]})


if mode == "start-dies":
    sys.exit("there is no such thing")
if mode == "start-silent":
    time.sleep(3600)
if mode == "stubborn":  # keeps a child that ignores everything, and does not end with its input
    subprocess.Popen([sys.executable, "-c", "import signal,time,sys\nfor s in (1,2,15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(3600)", sys.argv[2]],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
print("Hello, I am a banner that is no message", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        say(id=number, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "1"}})
    elif method == "tools/list":
        say(id=number, result={"tools": [{"name": name, "description": "", "inputSchema": {"type": "object"}} for name in ("work", "good")]})
    elif method == "tools/call":
        if message["params"]["name"] == "work":
            work(number)
        else:
            say(id=number, result={"content": [{"type": "text", "text": "good"}]})
    elif number is not None:
        say(id=number, error={"code": -32601, "message": "Method not found"})
while mode == "stubborn":
    time.sleep(3600)
