"""What became of a mutant."""

from dataclasses import dataclass

KILLED, SURVIVED, REFUSED = "killed", "survived", "does not compile"


@dataclass(frozen=True)
class Outcome:
    what: str
    by: str = ""  # the test that failed


class Unusable(Exception):
    """The tests cannot be built or fail without any mutant, so that they say nothing."""
