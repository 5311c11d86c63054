"""A small MCP service that wants a key: the modern version, JSON answers."""

import http.server
import json
import threading


class RecordedService:
    def __init__(self, key):
        self.key, self.seen = key, []
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.seen.append({name.lower(): value for name, value in self.headers.items()})
                if self.headers.get("authorization") != f"Bearer {service.key}":
                    # Some services repeat what they refuse.
                    return self.reply(401, {"error": f"no: {self.headers.get('authorization')}"})
                results = {"server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
                           "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
                           "tools/call": {"content": [{"type": "text", "text": "seen"}]}}
                self.reply(200, {"jsonrpc": "2.0", "id": body["id"], "result": {"resultType": "complete", **results[body["method"]]}})

            def reply(self, status, value):
                content = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
