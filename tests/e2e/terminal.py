"""The program on its own terminal: the screen as a person sees it, and key presses."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

from server import BINARY


class Terminal:
    def __init__(self, args, env, columns=110, lines=20, program=BINARY):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.seen = b""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            # The size must be set before the program reads it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execve(program, [program, *map(str, args)], {**env, "TERM": "xterm-256color"})
        self.code = None

    def _read(self, seconds):
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # the other side is gone
            return None
        if not data:
            return None
        self.seen += data
        self.stream.feed(data)
        return True

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, what, seconds=20):
        """Waits until the screen shows the text, or a check of the screen's lines holds."""
        check = what if callable(what) else lambda text: what in text
        deadline = time.monotonic() + seconds
        while not check(self.text()):
            left = deadline - time.monotonic()
            assert left > 0, f"not on the screen within {seconds} s: {what}\n{self.text()}"
            if self._read(min(left, 1)) is None:
                assert check(self.text()), f"the program ended without showing {what}\n{self.text()}"
                break
        return self.text()

    def press(self, keys):
        os.write(self.descriptor, keys.encode() if isinstance(keys, str) else keys)

    def mode(self):
        return termios.tcgetattr(self.descriptor)

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def end(self, seconds=20):
        """Waits for the program's end; returns its exit code, or minus the signal."""
        deadline = time.monotonic() + seconds
        while self.code is None:
            while self._read(0.02):
                pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                break
            assert time.monotonic() < deadline, f"did not end within {seconds} s\n{self.text()}"
        return self.code

    def kill(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = -9
        os.close(self.descriptor)
