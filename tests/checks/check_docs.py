"""Checks that the reference pages in docs/ match tools/generate-docs, that links in the documents resolve, and that
ARCHITECTURE.md has the modules with their layers."""

import re
import sys
from pathlib import Path

import source_tree

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from reference import pages  # noqa: E402
from reference.tree import Unreadable  # noqa: E402

# `docs/x.md`, (docs/x.md) and [x](x.md): paths of the repository that a reader will try to open.
NAMED = re.compile(r"(?<![\w/.~-])((?:docs|tests|tools|cmake|sdk|examples)/[\w./-]+\.(?:md|py|json|cmake|h|cpp|proto))\b")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


def stale_pages(root):
    try:
        yield from pages.out_of_date(root, pages.make(root))
    except Unreadable as error:
        yield f"tools/generate-docs cannot read the source: {error}"


def dead_links(root):
    for path in source_tree.files(root, ".md"):
        if "corpus" in path.parts or "golden" in path.parts:
            continue
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            wanted = {root / name for name in NAMED.findall(line)} | {path.parent / name for name in LINK.findall(line)}
            for target in sorted(wanted):
                if not target.exists():
                    yield f"{path.relative_to(root)}:{number}: leads to {target.relative_to(root)}, which is not there"


def modules(root):
    """{folder below src/: layer} as CMake has them."""
    found = {}
    for path in sorted((root / "src").rglob("CMakeLists.txt")):
        if declared := re.search(r"shepherd_module\([^)]*\bLAYER (\d+)", path.read_text()):
            found[str(path.parent.relative_to(root / "src"))] = int(declared[1])
    return found


def drawn(text):
    """{module: layer} in the picture: rows that begin with a layer, and rows that continue one."""
    picture = re.search(r"^## The picture\n.*?^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    found, layer = {}, None
    for row in picture[1].splitlines()[1:] if picture else []:
        number, names = re.match(r"\s*(\d*)\s*(.*)", row).groups()
        layer = int(number) if number else layer
        found.update((name, layer) for name in names.split())
    return found


def wrong_modules(root):
    page = root / "ARCHITECTURE.md"
    if not page.exists():
        return
    text, wanted = page.read_text(), modules(root)
    listed = {name: int(layer) for name, layer in re.findall(r"^\| `([\w/]+)` \| (\d+) \|", text, re.MULTILINE)}
    for place, found in (("the table of folders", listed), ("the picture", drawn(text))):
        for name in sorted(set(wanted) | set(found)):
            if wanted.get(name) != found.get(name):
                yield f"ARCHITECTURE.md: {place} has {name} in layer {found.get(name)}, CMake in {wanted.get(name)}"


def problems(root):
    return [*stale_pages(root), *dead_links(root), *wrong_modules(root)]


def main():
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "the documents are current")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
