"""The program under test as a process."""

import functools
import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path

import httpx

import contract
from streams import SSEFeed, WebSocketFeed

BINARY = os.environ.get("SHEPHERD_BIN", "")


def environment(home):
    """An environment without the developer's own settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SHEPHERD_", "XDG_"))}
    return {**kept, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "share"),
            "XDG_RUNTIME_DIR": str(home / "runtime"), "NO_COLOR": "1"}


class DidNotStart(Exception):
    def __init__(self, code, text):
        super().__init__(f"exit code {code}: {text}")
        self.code = code
        self.text = text


class Server:
    """Starts `shepherd serve` on free ports and ends exactly that process."""

    def __init__(self, directory, config="", args=(), listen="127.0.0.1:0", internal="127.0.0.1:0", grpc="127.0.0.1:0", binary=None,
                 env=None, command_prefix=()):
        self.data = Path(directory)
        self.data.mkdir(parents=True, exist_ok=True)
        self.home = self.data.parent / (self.data.name + ".home")
        self.home.mkdir(exist_ok=True)
        self.config = self.home / "shepherd.yaml"
        self.config.write_text(config)
        # A pool would take the tasks that tests claim or leave queued.
        args = list(args) if "--runners" in args else ["--runners", "0", *args]
        self.args, self.listen, self.internal_listen, self.grpc_listen = list(args), listen, internal, grpc
        self.binary = binary or BINARY
        self.env = {**environment(self.home), **(env or {})}
        self.prefix = list(command_prefix)
        self.log_path = self.home / "stderr.log"
        self.process = None

    def start(self, timeout=20):
        assert self.process is None or self.process.poll() is not None, "already running"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.binary, "serve", "--json", "--data", self.data, "--listen", self.listen,
                 "--internal-listen", self.internal_listen, "--grpc-listen", self.grpc_listen, "--config", self.config, *self.args],
                stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, env=self.env)
        self.lines = queue.Queue()
        threading.Thread(target=self._read_lines, args=(self.process.stdout, self.lines), daemon=True).start()
        seen = ""
        while True:
            try:
                line = self.lines.get(timeout=timeout)
            except queue.Empty:
                self.kill()
                raise DidNotStart(None, f"no ready line within {timeout} s\n{seen}\n{self.log()}") from None
            if line is None:
                raise DidNotStart(self.process.wait(), seen + self.log())
            seen += line
            value = json.loads(line)
            if value.get("event") == "ready":
                break
        self.public, self.internal = value["public"].rstrip("/"), value["internal"].rstrip("/")
        self.ready = value
        self.token = Path(value["adminTokenFile"]).read_text().strip()
        return self

    @staticmethod
    def _read_lines(pipe, lines):
        for line in pipe:
            lines.put(line.decode())
        lines.put(None)

    def stop(self, timeout=15):
        """Sends SIGTERM; returns the exit code."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else None
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end within {timeout} s of SIGTERM\n{self.log()}") from None

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        return self.log_path.read_text(errors="replace")[-8000:] if self.log_path.exists() else ""

    def rss_bytes(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def connection_of(self, client):
        """The server's end of a client's connection, for has_open() once the client is gone."""
        port = client.getsockname()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[2].split(":")[1], 16) == port and fields[3] == "01":
                return f"socket:[{fields[9]}]"
        return None

    def has_open(self, held):
        """Whether the server still has a descriptor for the result of connection_of()."""
        for entry in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                if os.readlink(f"/proc/{self.process.pid}/fd/{entry}") == held:
                    return True
            except OSError:
                pass  # closed during the loop
        return False

    def holds(self, client):
        return (held := self.connection_of(client)) is not None and self.has_open(held)

    # --- clients ---

    def headers(self, token=None):
        token = self.token if token is None else token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def api(self, token=None, **options):
        """An HTTP client of the public port; every answer is checked against openapi.json and the schemas."""
        return self._client("public", token, **options)

    def runner(self, token=None, **options):
        """The same for the internal port."""
        return self._client("internal", token, **options)

    def _client(self, listener, token, **options):
        check = functools.partial(contract.check_response, listener=listener)
        return httpx.Client(base_url=getattr(self, listener), headers={**self.headers(token), **options.pop("headers", {})}, timeout=30,
                            event_hooks={"response": [check]}, trust_env=False, **options)

    def websocket(self, path, token=None, base=None, **options):
        return WebSocketFeed((base or self.public) + path, {**self.headers(token), **options.pop("headers", {})}, **options)

    def sse(self, path, token=None, base=None, headers=None):
        return SSEFeed((base or self.public) + path, {**self.headers(token), **(headers or {})})

    def cli(self, *args, token=None, timeout=30, check=True, env=None, **options):
        """Runs another subcommand of the program against this server."""
        result = subprocess.run([self.binary, *map(str, args)], capture_output=True, text=True, timeout=timeout,
                                env={**self.env, "SHEPHERD_URL": self.public, "SHEPHERD_TOKEN": token or self.token,
                                     "SHEPHERD_DATA": str(self.data), **(env or {})}, **options)
        if check:
            assert result.returncode == 0, f"{args}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result
