"""All pages of the reference, and a comparison with the pages on disk."""

import difflib

from reference import configuration, errors, events, limits, metrics, schemas
from reference.tree import Source

PAGES = (configuration, errors, events, limits, metrics)
FIRST_LINE = "<!-- Made by tools/generate-docs from the source code. Do not edit: change the source and run it again. -->\n"


def make(root):
    """{name below docs/: its text}."""
    source = Source(root)
    return {**{page.NAME: FIRST_LINE + page.page(source) for page in PAGES}, **schemas.files(source)}


def out_of_date(root, made):
    """One line for each page that differs from the generator's output, with the first difference."""
    found = []
    for name, text in made.items():
        path = root / "docs" / name
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        changed = [line for line in difflib.unified_diff(old.splitlines(), text.splitlines(), n=0, lineterm="")
                   if line[:1] in "+-" and line[:3] not in ("---", "+++")]
        found.append(f"docs/{name}: not what the source says now; run tools/generate-docs. First: {changed[0][:160]}")
    left = sorted(f"{schemas.FOLDER}/{p.name}" for p in (root / "docs" / schemas.FOLDER).glob("*.json"))
    found += [f"docs/{name}: tools/generate-docs does not make it; delete it" for name in left if name not in made]
    return found
