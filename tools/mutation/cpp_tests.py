"""Builds and runs the C++ tests of an area on a mutant."""

import re
import resource
import time

from mutation.outcome import KILLED, REFUSED, SURVIVED, Outcome, Unusable
from mutation.scratch import run

BUILD_SECONDS = 1800
SLOWER = 4  # times as long as without a mutant, and some seconds more, is an endless loop
PATIENCE_SECONDS = 10
MEMORY = 4 << 30  # for a mutant that allocates forever
RUN = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\S+?)(?:,| \(|$)", re.MULTILINE)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def failed_test(ended):
    """The name of the test that failed or ran last."""
    failed, started = FAILED.findall(ended.output), RUN.findall(ended.output)
    name = failed[0] if failed else started[-1] if started else "start of the program"
    if ended.timed_out:
        return f"{name} (time-out)"
    return name if failed else f"{name} (crash)"


class CppTests:
    """Each file is compiled alone, so that a mutant costs one of them."""

    def __init__(self, area, scratch, jobs):
        self.area, self.scratch, self.jobs = area, scratch, jobs
        self.build = scratch.directory / "build/dev"
        self.seconds = {}
        self.patience = PATIENCE_SECONDS

    def prepare(self):
        if not (self.build / "build.ninja").exists():
            made = run(["cmake", "--preset", "dev", "-DSHEPHERD_UNITY=0", "-DSHEPHERD_PAGE=OFF"], self.scratch.directory,
                       BUILD_SECONDS)
            if made.code != 0:
                raise Unusable(made.output)
        for program in self.area.programs:
            built = self.make(program)
            if built.code != 0:
                raise Unusable(built.output)
            begin = time.monotonic()
            ended = self.test(program, BUILD_SECONDS)
            if ended.code != 0:
                raise Unusable(f"{program} fails without a mutant: {failed_test(ended)}\n{ended.output[-4000:]}")
            self.seconds[program] = time.monotonic() - begin

    def make(self, program):
        return run(["ninja", "-C", self.build, f"-j{self.jobs}", program], self.scratch.directory, BUILD_SECONDS)

    def test(self, program, seconds):
        temporary = self.build / "tmp"
        temporary.mkdir(exist_ok=True)
        return run([self.build / "bin" / program, "--gtest_fail_fast", f"--gtest_filter=*:-{self.area.left_out}"], self.build,
                   seconds, {"TMPDIR": str(temporary)}, limit_memory)

    def judge(self, mutant):
        with self.scratch.mutated(mutant):
            for program in self.area.programs:
                built = self.make(program)
                if built.code != 0:
                    # Linking ends with the program listing its tests; a mutant may prevent that.
                    return Outcome(REFUSED) if re.search(r"^FAILED: \S+\.o\b", built.output, re.MULTILINE) else \
                        Outcome(KILLED, f"{program} (does not list its tests)")
                ended = self.test(program, self.seconds[program] * SLOWER + self.patience)
                if ended.code != 0 or ended.timed_out:
                    return Outcome(KILLED, f"{program}: {failed_test(ended)}")
        return Outcome(SURVIVED)

    def close(self):
        pass
