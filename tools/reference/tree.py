"""The source tree that the pages are generated from: files, modules, constants and limits."""

import functools
import re
import sys
from pathlib import Path

from reference import cpp

sys.dont_write_bytecode = True


class Unreadable(Exception):
    """The generator does not understand this form of the source."""


class Source:
    def __init__(self, root):
        self.root = Path(root)

    def files(self, *suffixes):
        """The program's files below src/ without its tests, sorted."""
        found = [p for p in (self.root / "src").rglob("*") if p.suffix in suffixes and p.is_file()]
        return sorted(p for p in found if not p.stem.endswith(("_test", "_fixture", "_for_test"))
                      and not p.name.startswith("test_"))

    def one(self, name):
        """The file of that name anywhere below src/."""
        found = [p for p in self.files(Path(name).suffix) if p.name == name or str(p).endswith("/" + name)]
        if len(found) != 1:
            raise Unreadable(f"expected one {name} below src/, found {len(found)}")
        return found[0]

    @functools.cache
    def tokens(self, path):
        return cpp.tokens(path.read_text())

    def where(self, path, line=0):
        return str(path.relative_to(self.root)) + (f":{line}" if line else "")

    @functools.cached_property
    def module_folders(self):
        return {p.parent for p in (self.root / "src").rglob("CMakeLists.txt") if "shepherd_module(" in p.read_text()}

    def module(self, path):
        """The folder of the file's module, relative to src/."""
        for parent in path.parents:
            if parent in self.module_folders:
                return str(parent.relative_to(self.root / "src"))
        raise Unreadable(f"{self.where(path)} belongs to no module")

    @functools.cached_property
    def text_constants(self):
        """Names of string constants and their values; names with two values are omitted."""
        found, twice = {}, set()
        for path in self.files(".h", ".cpp"):
            for name, value in re.findall(r'constexpr (?:std::string_view|const char\*|char) (k\w+)(?:\[\])? = "([^"\\]*)";',
                                          path.read_text()):
                twice.update({name} if found.get(name, value) != value else ())
                found[name] = value
        return {n: v for n, v in found.items() if n not in twice}
