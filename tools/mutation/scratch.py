"""A copy of the tree in which mutants are built, so that the work tree never holds one."""

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

KEPT = {"build", "node_modules"}  # made in the copy, not copied


@dataclass
class Ended:
    code: int  # negative: the signal that ended it
    output: str
    timed_out: bool


def run(command, cwd, seconds, environment=None, limit=None):
    """Runs the command in a process group of its own, which ends with it or after so much time."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **(environment or {})}, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit)
        timed_out = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return Ended(process.returncode, output.read().decode(errors="replace"), timed_out)


class Scratch:
    def __init__(self, root, directory):
        self.root, self.directory = Path(root), Path(directory)
        self.lock = None

    @staticmethod
    def take(root, kind):
        """The first copy of its kind in build/mutants that no other run uses."""
        for number in itertools.count(1):
            scratch = Scratch(root, root / "build/mutants" / f"{kind}-{number}")
            scratch.directory.mkdir(parents=True, exist_ok=True)
            scratch.lock = open(scratch.directory.with_suffix(".lock"), "w")
            try:
                fcntl.flock(scratch.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return scratch
            except BlockingIOError:
                scratch.lock.close()

    def refresh(self):
        """Makes the copy equal to the tree, as it is now, and leaves alone what is equal, so that little is built again."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root,
                                capture_output=True, text=True, check=True).stdout
        names = {name for name in listed.split("\0") if name and (self.root / name).is_file()}
        for name in sorted(names):
            source, target = self.root / name, self.directory / name
            if not target.is_file() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                shutil.copymode(source, target)
        for directory, below, files in os.walk(self.directory):
            below[:] = [name for name in below if name not in KEPT]
            for name in files:
                path = Path(directory, name)
                if str(path.relative_to(self.directory)) not in names:
                    path.unlink()

    @contextmanager
    def mutated(self, mutant):
        path = self.directory / mutant.file
        text = path.read_text()
        path.write_text(mutant.applied(text))
        try:
            yield
        finally:
            path.write_text(text)
