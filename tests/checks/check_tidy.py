"""clang-tidy and clang's lock annotations over every source, remembered per file.

A file is looked at again only when it, a project header it includes, its compile command or the rules have changed:
what passed leaves a stamp named after the hash of all these in BUILD/tidy.
"""

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import source_tree

TOOL = "clang-tidy-19"
# clang reads a g++ command line: flags it does not know and deprecations inside libstdc++ are not its business, the lock
# annotations are.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations",
         "--extra-arg=-Wno-missing-designated-field-initializers",
         "--extra-arg=-Wthread-safety", "--extra-arg=-Wthread-safety-beta"]


def project_includes(path, source, seen):
    """Adds the file and, transitively, every project header it includes."""
    if path in seen:
        return
    seen.add(path)
    for _, quoted, name in source_tree.includes(path):
        if quoted and (source / name).exists():
            project_includes(source / name, source, seen)


def fingerprint(path, command, source, rules):
    read = set()
    project_includes(path, source, read)
    digest = hashlib.sha256(rules + command.encode())
    for each in sorted(read):
        digest.update(each.name.encode() + each.read_bytes())
    return digest.hexdigest()


def check(path, build):
    return subprocess.run([TOOL, "--quiet", "-p", str(build), *EXTRA, str(path)], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=lambda p: Path(p).resolve())
    parser.add_argument("--build", type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument("--only", default="", help="only sources whose path contains this")
    options = parser.parse_args()

    source = options.root / "src"
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    rules = (options.root / ".clang-tidy").read_bytes() + version + " ".join(EXTRA).encode()
    stamps = options.build / "tidy"
    stamps.mkdir(exist_ok=True)

    todo = []
    for entry in json.loads((options.build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if source not in path.parents or source_tree.is_test(path.relative_to(options.root)) or options.only not in str(path):
            continue
        command = shlex.join(w for w in shlex.split(entry["command"]) if not w.startswith("-o"))
        stamp = stamps / fingerprint(path, command, source, rules)
        if not stamp.exists():
            todo.append((path, stamp))
    todo.sort(key=lambda item: -item[0].stat().st_size)

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, stamp), result in zip(todo, pool.map(lambda item: check(item[0], options.build), todo)):
            if result.returncode == 0:
                stamp.touch()
                continue
            failed += 1
            print(f"== {path.relative_to(options.root)}\n{result.stdout}")
            if "error:" not in result.stdout:
                print(result.stderr)
    print(f"clang-tidy: {len(todo)} files looked at, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
