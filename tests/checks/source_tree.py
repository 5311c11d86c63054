"""The source tree for the checks: its files, its modules and their includes."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = {".git", "build", ".venv", "node_modules", "__pycache__"}


def files(root, *suffixes):
    """All files under root that belong to the project, with one of the suffixes (or any), sorted."""
    found = []
    for directory, names, entries in os.walk(root):
        names[:] = [n for n in names if n not in SKIPPED]
        found += [Path(directory, e) for e in entries if not suffixes or e.endswith(suffixes)]
    return sorted(found)


def is_test(path):
    """Tests and files that only tests include: x_test.cpp, test_x.h, x_fixture.h, x_for_test.h, anything in tests/."""
    return (path.stem.endswith(("_test", "_for_test", "_fixture")) or path.name.startswith("test_") or "tests" in path.parts)


@dataclass
class Module:
    name: str
    folder: Path
    layer: int
    deps: list = field(default_factory=list)
    test_deps: list = field(default_factory=list)


def modules(source):
    """The shepherd_module() declarations below `source`, by folder."""
    found = {}
    for listing in files(source, "CMakeLists.txt"):
        text = re.sub(r"#[^\n]*", "", listing.read_text())
        for arguments in re.findall(r"shepherd_module\(([^)]*)\)", text):
            values, key = {}, None
            for word in arguments.split():
                if word in ("NAME", "LAYER", "DEPS", "LIBS", "TEST_DEPS"):
                    key = word
                    values[key] = []
                else:
                    values[key].append(word)
            module = Module(values["NAME"][0], listing.parent, int(values["LAYER"][0]), values.get("DEPS", []),
                            values.get("TEST_DEPS", []))
            found[module.folder] = module
    return found


def module_of(path, by_folder):
    """The module whose folder is nearest above the path, or None."""
    for parent in path.parents:
        if parent in by_folder:
            return by_folder[parent]
    return None


INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def includes(path):
    """(line, is_quoted, name) of every #include in the file."""
    text = path.read_text(errors="replace")
    return [(text.count("\n", 0, m.start(2)) + 1, m.group(1) == '"', m.group(2)) for m in INCLUDE.finditer(text)]
