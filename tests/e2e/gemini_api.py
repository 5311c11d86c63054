"""A scripted model: as much of the Gemini API on loopback as the real Gemini CLI needs.

    api = GeminiAPI([Reply(tool("run_shell_command", command="ls")), Reply(text("done"))]).start()

Replies are those of model_api. Requests without tools are the agent's own side requests; they get a short answer and are not
counted.
"""

import json

from model_api import ModelAPI, Reply, Request, _send_json, text


class GeminiRequest(Request):
    def __post_init__(self):
        for part in self.body["contents"][-1]["parts"]:
            if "functionResponse" in part:
                self.results[part["functionResponse"].get("id", "")] = json.dumps(part["functionResponse"]["response"])
            self.words += part.get("text", "")

    def history(self):
        return json.dumps(self.body["contents"], ensure_ascii=False)


class GeminiAPI(ModelAPI):
    def _answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers.get("Content-Length", 0))) or b"{}")
        verb = handler.path.split("?")[0].rpartition(":")[2]
        if verb == "countTokens":
            return _send_json(handler, 200, {"totalTokens": 100})
        if verb not in ("generateContent", "streamGenerateContent"):
            return _send_json(handler, 200, {})
        if not body.get("tools"):
            return self._send(handler, verb, Reply(text("Scripted")))
        with self.arrived:
            request = GeminiRequest(body, dict(handler.headers), len(self.requests) + 1)
            self.requests.append(request)
            self.arrived.notify_all()
        self._send(handler, verb, self._choose(request))

    def _send(self, handler, verb, reply):
        if reply.status != 200:
            return _send_json(handler, reply.status, {"error": {"code": reply.status, "message": "scripted failure",
                                                                "status": "INVALID_ARGUMENT"}})
        pieces = [piece for block in reply.blocks for piece in _parts(block)]
        answers = [_answer([piece], index == len(pieces) - 1) for index, piece in enumerate(pieces)]
        if verb == "generateContent":
            return _send_json(handler, 200, _answer(pieces, True))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        try:
            for index, answer in enumerate(answers):
                if reply.before_last and index == len(answers) - 1:
                    reply.before_last.wait(30)
                data = f"data: {json.dumps(answer)}\r\n\r\n".encode()
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # the agent was ended and hung up


def _parts(block):
    if block["type"] == "tool_use":
        return [{"functionCall": {"name": block["name"], "args": block["input"]}}]
    half = len(block["text"]) // 2
    return [{"text": piece} for piece in (block["text"][:half], block["text"][half:]) if piece]


def _answer(parts, last):
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    return {"candidates": [candidate], "modelVersion": "scripted",
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}}
