"""Plain English, as far as a script can check it: commit subjects, phrases, comments that stand alone, and file names.

Phrases are searched in documents, in the C++ strings and comments of PLAIN_FOLDERS, and in all text of the page and of
the description of the API. A comment that finishes the sentence of the comment above it is found by its first word.

    check_words.py TREE [--since COMMIT]      checks commits after COMMIT, if TREE is a git checkout that has it
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import source_tree

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from reference import cpp, pages  # noqa: E402

LONGEST_SUBJECT = 72
# "hub: …", "views, follow: …", "store/sqlite: …"
PREFIX = re.compile(r"[a-z][\w/.+-]*(, [a-z][\w/.+-]*)*: \S")

PHRASES = {
    "whoever": "name the person, process or caller",
    "whomever": "name the person, process or caller",
    "somebody": "name the person, process or caller",
    "anybody": "name the person, process or caller",
    "nobody": "name who does not: no runner, no process",
    "so many": "write how many, or: maximum number of",
    "asks leave": "asks for approval",
    "ask leave": "ask for approval",
    "asks for leave": "asks for approval",
    "same breath": "immediately",
    "to whom you would": "only to people you would",
    "a word on the way": "optional guidance",
    "for ever": "forever",
    "heard of": "write who receives what, or: reports",
    "did not hear": "did not receive",
    "lets? go of": "releases, or: forgets",
}
# Folders whose C++ is read for phrases: strings and comments, but only comments in tests, whose strings are data.
PLAIN_FOLDERS = ("src", "sdk", "fuzz", "examples", "bench", "tests/conformance", "tests/simulation", "tests/agents")
PLAIN_TEXT = ("web/index.html", "src/api/openapi.json")  # files without a language of their own, besides web/src
# The first words of a comment that finishes the sentence of the comment above it.
CONTINUING = ("and", "or", "nor", "but", "so", "also", "then", "otherwise", "than", "that", "which", "whose", "who")
CONTINUING_BESIDE = (*CONTINUING, "until", "while", "because", "unless", "with")  # of a comment at the end of a line
TITLES = ("Which", "Whose", "Who", "That")  # "Which claims are under way." is a title
ABOUT_WORDS = "## Plain English"  # the section that names the words to avoid

# Parts of file names under src/, and the glossary's word for the same idea.
FILE_WORDS = {"event_run": "batch", "event_runs": "batch", "framed_run": "batch", "stored_run": "batch", "run_walk": "batch",
              "run_rows": "batch", "job": "task", "jobs": "task", "directive": "command", "instruction": "command"}
ORDINARY = {"lanes": "thread_pool", "door": "intake"}  # fanciful names and the ordinary word for each


def long_or_unnamed_subjects(root, since):
    """Problems of the commits after `since`; none if git cannot list them."""
    log = subprocess.run(["git", "-C", root, "log", "--no-merges", "--format=%h %s", f"{since}..HEAD"],
                         capture_output=True, text=True)
    for line in log.stdout.splitlines() if log.returncode == 0 else []:
        commit, _, subject = line.partition(" ")
        if len(subject) > LONGEST_SUBJECT:
            yield f"commit {commit}: the subject has {len(subject)} characters, at most {LONGEST_SUBJECT}: {subject}"
        if not PREFIX.match(subject):
            yield f"commit {commit}: the subject does not begin with its module, as in \"hub: evict idle tails\": {subject}"


def phrases_in(text, phrases, within=None):
    """The phrases in the text that begin before `within`."""
    for phrase, instead in phrases.items():
        found = re.search(rf"\b{phrase}\b", text, re.IGNORECASE)
        if found and found.start() < (len(text) if within is None else within):
            yield f"\"{phrase}\": {instead}"


def phrases_in_documents(root):
    made = {page.NAME for page in pages.PAGES}  # their text comes from the source
    for path in source_tree.files(root, ".md"):
        name = path.relative_to(root)
        if name.parts[0] in ("tests", "fuzz") or (name.parts[0] == "docs" and name.name in made):
            continue
        section = ""
        # A phrase may cross a line end, so each line is checked with the first word of the next.
        lines = path.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            section = line if line.startswith("#") else section
            following = lines[number].split(" ")[:1] if number < len(lines) else []
            if section != ABOUT_WORDS:
                for problem in phrases_in(" ".join([line, *following]), PHRASES, len(line)):
                    yield f"{name}:{number}: {problem}"


def phrases_in_strings(root):
    for path in code(root):
        if source_tree.is_test(path.relative_to(root)):
            continue
        for tok in cpp.tokens(path.read_text(errors="replace")):
            if tok.kind == "string":
                for problem in phrases_in(tok.text, PHRASES):
                    yield f"{path.relative_to(root)}:{tok.line}: {problem}"


def code(root):
    for folder in PLAIN_FOLDERS:
        yield from source_tree.files(root / folder, ".h", ".cpp")


def phrases_in_page(root):
    """The page mixes code, markup and text in its files, so all of their words count."""
    paths = [path for path in source_tree.files(root / "web/src", ".ts", ".tsx") if not source_tree.is_test(path.relative_to(root))]
    for path in (*paths, *(root / name for name in PLAIN_TEXT if (root / name).exists())):
        lines = path.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            following = lines[number].strip("/ ").split(" ")[:1] if number < len(lines) else []
            for problem in phrases_in(" ".join([line, *following]), PHRASES, len(line)):
                yield f"{path.relative_to(root)}:{number}: {problem}"


@dataclass
class Comment:
    line: int
    words: str
    alone: bool  # no code on its line
    below: bool  # the line above has another comment


def comments(text):
    """Every comment. A `//` exactly below another continues it."""
    found, line, last, column_of_last, code_line = [], 1, -1, 0, 0
    for match in cpp.TOKEN.finditer(text):
        token, column = match.group(), match.start() - text.rfind("\n", 0, match.start())
        if match.lastgroup != "space":
            code_line = line
        elif token.startswith("/"):
            alone, beside = code_line != line, last == line - 1
            if alone and beside and column == column_of_last and token.startswith("//"):
                found[-1].words += " " + token[2:].strip()
            else:
                found.append(Comment(line, token[2:].strip(), alone, beside))
            last, column_of_last = line, column
        line += token.count("\n")
    return found


def phrases_in_comments(root):
    for path in code(root):
        for comment in comments(path.read_text(errors="replace")):
            for problem in phrases_in(comment.words, PHRASES):
                yield f"{path.relative_to(root)}:{comment.line}: {problem}"


def is_fragment(comment):
    word = re.match(r"[A-Za-z]*", comment.words).group()
    if comment.alone:
        return word.lower() in CONTINUING and word not in TITLES
    return comment.below and word in CONTINUING_BESIDE


def fragments(root):
    """Comments that finish a sentence of the comment above, or of the code that they stand before."""
    for path in (*code(root), *source_tree.files(root / "web/src", ".ts", ".tsx")):
        for comment in comments(path.read_text(errors="replace")):
            if is_fragment(comment):
                yield (f"{path.relative_to(root)}:{comment.line}: the comment does not stand alone; do not begin it with "
                       f"\"{comment.words.split()[0]}\": {comment.words[:60]}")


def glossary(root):
    """The words of the table under "## Words" in ARCHITECTURE.md."""
    page = root / "ARCHITECTURE.md"
    found = re.search(r"^## Words\n(.*?)(?=^## |\Z)", page.read_text() if page.exists() else "", re.DOTALL | re.MULTILINE)
    cells = re.findall(r"^\| ([^|]+) \|", found.group(1), re.MULTILINE) if found else []
    return {word.strip() for cell in cells for word in cell.split(",")}


def files_with_other_words(root):
    known = glossary(root)
    for missing in sorted(set(FILE_WORDS.values()) - known):
        yield f"ARCHITECTURE.md: the glossary has no \"{missing}\", which check_words.py asks for"
    for path in source_tree.files(root / "src", ".h", ".cpp"):
        for other, word in (FILE_WORDS | ORDINARY).items():
            if re.search(rf"(^|_){other}(_|$)", path.stem):
                yield f"{path.relative_to(root)}: \"{other}\" is called {word} here"


def problems(root, since=None):
    found = [*phrases_in_documents(root), *phrases_in_strings(root), *phrases_in_comments(root), *phrases_in_page(root), *fragments(root),
             *files_with_other_words(root)]
    return found + (list(long_or_unnamed_subjects(root, since)) if since else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--since")
    options = parser.parse_args()
    found = problems(Path(options.tree).resolve(), options.since)
    print("\n".join(found) if found else "the words keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
