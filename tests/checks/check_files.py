"""Rules about files: length, names, machine-specific paths, the Threads line, and unused bounds."""

import re
import sys
from collections import Counter
from pathlib import Path

import source_tree

LONGEST = 600
BANNED = re.compile(r"(^|[_.-])(manager|helper|helpers|util|utils|common)([_.-]|$)", re.IGNORECASE)
TEXT = (".h", ".cpp", ".py", ".md", ".txt", ".cmake", ".json", ".yaml", ".yml", ".sh", ".html", ".css", ".js", ".ts",
        "Makefile", ".service", ".toml")
# Home directories and work trees: a path that exists on one machine only.
MACHINE_PATH = re.compile(r"(?<![\w.}/:-])/(?:home/[a-z]|root/|work/|Users/[A-Z])")


def too_long(root):
    for path in source_tree.files(root, ".h", ".cpp", ".py", ".cmake", ".ts", ".js"):
        lines = path.read_text(errors="replace").count("\n")
        if lines > LONGEST:
            yield f"{path.relative_to(root)}: {lines} lines; over {LONGEST} a file holds more than one idea"


def badly_named(root):
    for path in source_tree.files(root):
        for part in path.relative_to(root).parts:
            if BANNED.search(part):
                yield f"{path.relative_to(root)}: '{part}' names no idea; say what it does"


def machine_paths(root):
    for path in source_tree.files(root, *TEXT):
        if source_tree.is_test(path.relative_to(root)):
            continue  # tests use invented paths
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                yield f"{path.relative_to(root)}:{number}: a path of one machine: {line.strip()[:100]}"


def threads_unsaid(root):
    for path in source_tree.files(root / "src", ".h"):
        if not source_tree.is_test(path.relative_to(root)) and "Threads:" not in path.read_text(errors="replace"):
            yield f"{path.relative_to(root)}: no 'Threads:' line; say who may call it"


def unused_limits(root):
    code = {p: re.sub(r"//[^\n]*", "", p.read_text(errors="replace")) for p in source_tree.files(root / "src", ".h", ".cpp")
            if not source_tree.is_test(p.relative_to(root))}
    words = {p: Counter(re.findall(r"\w+", text)) for p, text in code.items()}
    everywhere = sum(words.values(), Counter())
    for path, text in code.items():
        if path.name != "limits.h":
            continue
        for name in re.findall(r"constexpr\s+[\w:<>]+\s+(k\w+)", text):
            if everywhere[name] < 2:
                yield f"{path.relative_to(root)}: {name} is used nowhere; a bound that nobody keeps is no bound"


# The text exists once its filling has returned; until then its name is an object that was never made.
FILLED = re.compile(r"\bstd::string (\w+) = object_text\(")


def filled_by_name(root):
    for path in source_tree.files(root, ".h", ".cpp"):
        text = path.read_text(errors="replace")
        for made in FILLED.finditer(text):
            depth, end = 1, made.end()
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            filling = re.sub(r'"(\\.|[^"\\])*"', '""', text[made.end():end])
            if re.search(rf"(?<![\w.>]){made.group(1)}\b", filling):
                line = text.count("\n", 0, made.start()) + 1
                yield f"{path.relative_to(root)}:{line}: '{made.group(1)}' is used before it is made; use the JsonObject"


def problems(root):
    rules = (too_long, badly_named, machine_paths, threads_unsaid, unused_limits, filled_by_name)
    return [p for rule in rules for p in rule(root)]


def main():
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "files keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
