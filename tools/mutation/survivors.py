"""The survivors that are known and have a reason: tests/mutation/survivors.tsv."""

from collections import namedtuple

from mutation import areas, mutants

NAME = "tests/mutation/survivors.tsv"
COLUMNS = ("file", "line", "mutated line", "reason")
Survivor = namedtuple("Survivor", ("file", "before", "after", "reason"))


def read(root):
    path = root / NAME
    lines = path.read_text().splitlines() if path.exists() else []
    return [Survivor(*line.split("\t")) for line in lines if line and not line.startswith("#")][1:]


def keys(listed):
    return {(s.file, s.before, s.after) for s in listed}


def is_listed(mutant, known):
    return (mutant.file, mutant.before, mutant.after) in known


def problems(root):
    """Entries without a reason, and entries that are no mutant of the source as it is now."""
    wanted = {file for area in areas.AREAS.values() for file in areas.sources(root, area)}
    offered = {}
    for entry in read(root):
        if entry.file not in wanted:
            yield f"{NAME}: {entry.file} is not a file that is mutated"
            continue
        if entry.file not in offered:
            offered[entry.file] = {(m.before, m.after) for m in mutants.of_file(root, entry.file)}
        if (entry.before, entry.after) not in offered[entry.file]:
            yield f"{NAME}: {entry.file} has no such mutant any more: {entry.before}"
        if len(entry.reason.split()) < 3:
            yield f"{NAME}: no reason is given for {entry.file}: {entry.before}"
