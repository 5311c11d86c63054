"""Runs the page's unit tests on a mutant, after a look at its types."""

import json
import re
import subprocess

from mutation.outcome import KILLED, REFUSED, SURVIVED, Outcome, Unusable
from mutation.scratch import run

BUILD_SECONDS = 1800
SECONDS = 60  # all tests take a few
FAILED = re.compile(r"^\s*(?:\x1b\[[\d;]*m|\s)*FAIL\S*\s+(.+)$", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class PageTests:
    def __init__(self, area, scratch, jobs):
        self.scratch, self.web = scratch, scratch.directory / "web"
        self.types = None

    def prepare(self):
        packages, link = self.scratch.root / "web/node_modules", self.web / "node_modules"
        if not packages.is_dir():
            built = run(["tools/build-page", self.scratch.root / "build/mutants/page"], self.scratch.root, BUILD_SECONDS)
            if built.code != 0:
                raise Unusable(built.output)
        if not link.is_symlink():
            link.symlink_to(packages)
        made = run(["npm", "run", "--silent", "types"], self.web, BUILD_SECONDS)
        if made.code != 0:
            raise Unusable(made.output)
        ended = self.test([])
        if ended.code != 0:
            raise Unusable(ended.output)
        script = self.scratch.root / "tools/mutation/check_types.mjs"
        self.types = subprocess.Popen(["node", script, self.web], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def test(self, files):
        which = ["related", "--run", *files] if files else ["run"]
        return run(["node_modules/.bin/vitest", *which, "--bail=1"], self.web, SECONDS, {"CI": "true", "NO_COLOR": "1"})

    def type_error(self, mutant):
        """The first complaint of the compiler about the mutated file, or nothing."""
        self.types.stdin.write(json.dumps({"file": str(self.scratch.directory / mutant.file)}) + "\n")
        self.types.stdin.flush()
        return json.loads(self.types.stdout.readline())["error"]

    def judge(self, mutant):
        with self.scratch.mutated(mutant):
            if self.type_error(mutant):
                return Outcome(REFUSED)
            ended = self.test([mutant.file.removeprefix("web/")])
        if ended.timed_out:
            return Outcome(KILLED, "page (time-out)")
        if ended.code == 0:
            return Outcome(SURVIVED)
        failed = FAILED.findall(COLOUR.sub("", ended.output))
        return Outcome(KILLED, failed[0].strip() if failed else "page (crash)")

    def close(self):
        if self.types:
            self.types.stdin.close()
            self.types.wait()
