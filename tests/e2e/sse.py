"""A reader of text/event-stream by the WHATWG rules, independent of the server's encoder."""

from dataclasses import dataclass


@dataclass
class Frame:
    event: str  # "message" if the frame names none
    data: str | None  # None if the frame has no data line (it only sets the id)
    id: str | None  # as given in this frame; None if it has none


class Parser:
    def __init__(self):
        self._buffer = b""
        self._lines = []

    def feed(self, chunk):
        """The frames that are complete now."""
        self._buffer += chunk
        frames = []
        while (end := self._line_end()) is not None:
            line, self._buffer = self._buffer[: end[0]].decode("utf-8"), self._buffer[end[1]:]
            if line:
                self._lines.append(line)
            elif self._lines:
                frames.append(self._frame())
                self._lines = []
        return frames

    def _line_end(self):
        """(end of text, start of the rest) of the first whole line. A CR at the very end may be half of a CRLF."""
        ends = [i for i in (self._buffer.find(b"\n"), self._buffer.find(b"\r")) if i >= 0]
        if not ends:
            return None
        at = min(ends)
        if self._buffer[at:at + 1] == b"\r":
            if at + 1 == len(self._buffer):
                return None
            if self._buffer[at + 1:at + 2] == b"\n":
                return at, at + 2
        return at, at + 1

    def _frame(self):
        event, data, frame_id = "message", [], None
        for line in self._lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif name == "id" and "\0" not in value:
                frame_id = value
        return Frame(event, "\n".join(data) if data else None, frame_id)
