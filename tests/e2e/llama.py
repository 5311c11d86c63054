"""A real llama.cpp server (the xllamacpp wheel) that runs the scripted model of scripted_model.py.

    with Llama(context=2048, slots=1) as backend: ...

Called as a program, it is that server: llama.py FILE PORT CONTEXT SLOTS [KEY]
"""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

GENERATOR = Path(__file__).with_name("scripted_model.py")
MODELS = Path(__file__).resolve().parents[2] / "build" / "llama"
NAME = "scripted"


def model_file():
    """The scripted model, written once for each version of its generator."""
    path = MODELS / f"scripted-{hashlib.sha256(GENERATOR.read_bytes()).hexdigest()[:16]}.gguf"
    if not path.exists():
        MODELS.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        subprocess.run([sys.executable, "-B", GENERATOR, unfinished], check=True)
        unfinished.replace(path)  # test files run in parallel
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Llama:
    """Owns the process. `context` is the size of one slot in tokens."""

    def __init__(self, context=4096, slots=1, key=None):
        self.context, self.slots, self.key = context, slots, key
        self.process = None

    def start(self):
        self.port = free_port()
        self.log = tempfile.TemporaryFile()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-B", __file__, model_file(), self.port, self.context * self.slots, self.slots, *([self.key] if self.key else [])]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=self.log,
                                        stdin=subprocess.DEVNULL, start_new_session=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
        self.api = httpx.Client(base_url=self.url, trust_env=False, timeout=30, headers={"Authorization": f"Bearer {self.key}"} if self.key else {})
        deadline = time.monotonic() + 60
        while not self._ready():
            assert self.process.poll() is None, f"llama.cpp ended: {self._logged()}"
            assert time.monotonic() < deadline, "llama.cpp did not become ready"
            time.sleep(0.02)  # between two polls
        return self

    def _ready(self):
        try:
            return self.api.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    def _logged(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:]

    def stop(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.wait()
            self.log.close()
            self.api.close()

    def busy_slots(self):
        return sum(slot["is_processing"] for slot in self.api.get("/slots").raise_for_status().json())

    def pause(self):
        """It stands still, so that an endless answer cannot end at its bound while a test looks at the rest. It answers nothing meanwhile."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def resume(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


def serve(path, port, context, slots, key=None):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {NAME}
    params.port = int(port)
    params.n_ctx = int(context)
    params.n_parallel = int(slots)
    params.use_jinja = True
    params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_DEEPSEEK
    params.enable_reasoning = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0.0
    params.endpoint_slots = True
    if key:
        params.api_keys = [key]
    server = xllamacpp.Server(params)  # it serves until it is collected
    while server:
        time.sleep(3600)


if __name__ == "__main__":
    serve(*sys.argv[1:])
