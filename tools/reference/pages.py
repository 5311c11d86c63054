"""All pages of the reference, and a comparison with the pages on disk."""

import difflib

from reference import configuration, errors, events, limits, metrics
from reference.tree import Source

PAGES = (configuration, errors, events, limits, metrics)
FIRST_LINE = "<!-- Made by tools/generate-docs from the source code. Do not edit: change the source and run it again. -->\n"


def make(root):
    """{file name in docs/: its text}."""
    source = Source(root)
    return {page.NAME: FIRST_LINE + page.page(source) for page in PAGES}


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
    return found
