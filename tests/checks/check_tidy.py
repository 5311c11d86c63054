"""clang-tidy and clang's lock annotations over every source of the program.

A file is checked again only when it, a project header it includes, its flags or the rules have changed. A passing file
leaves a stamp, named after the hash of all these, in the user's cache, which other clones share.

Most of the time goes into the system headers, so the files of one folder are checked together as one translation unit.
If that reports a problem, or the files cannot be joined, each is checked alone, and that result counts.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import source_tree

TOOL = "clang-tidy-19"
# clang reads a g++ command line: ignore unknown flags and deprecations inside libstdc++, but check the lock
# annotations.
EXTRA = ["-Wno-unknown-warning-option", "-Wno-deprecated-declarations", "-Wno-missing-designated-field-initializers",
         "-Wthread-safety", "-Wthread-safety-beta"]
MOST_TOGETHER = 12
STAMP_DAYS = 60

HIDDEN = re.compile(r"^namespace \{$(.*?)^\}", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"^(?:(?:struct|class|enum|enum class|using) +(\w+)|[\w:<>,&* ]*?\b(\w+) ?[(={;\[])", re.MULTILINE)


@dataclass
class Source:
    path: Path
    flags: list
    stamp: Path


def project_includes(path, source, seen):
    """Adds the file and, transitively, every project header it includes."""
    if path in seen:
        return
    seen.add(path)
    for _, quoted, name in source_tree.includes(path):
        if quoted and (source / name).exists():
            project_includes(source / name, source, seen)


def fingerprint(path, flags, root, rules):
    read = set()
    project_includes(path, root / "src", read)
    digest = hashlib.sha256(rules + shlex.join(flags).replace(str(root), "").encode())
    for each in sorted(read):
        digest.update(str(each.relative_to(root)).encode() + each.read_bytes())
    return digest.hexdigest()


def compile_flags(command):
    words = iter(shlex.split(command)[1:])
    return [w for w in words if w != "-c" and not w.endswith((".cpp", ".cxx")) and not (w == "-o" and next(words))]


def sources_of(entry, source):
    """The project files behind one entry of compile_commands.json: one, or several that are compiled together."""
    path = Path(entry["directory"], entry["file"]).resolve()
    if "Unity" not in path.parts:
        return [path]
    return [source / name for _, _, name in source_tree.includes(path)]


def hidden_names(path):
    """Names that a file declares for itself. Two files that share such a name cannot be joined."""
    blocks = "\n".join(HIDDEN.findall(path.read_text()))
    return {a or b for a, b in DECLARED.findall(blocks)}


def batches(sources):
    """Groups sources of one folder with the same flags, as far as their names allow."""
    found = []
    for each in sources:
        names = hidden_names(each.path)
        for key, taken, members in found:
            if key == (each.path.parent, each.flags) and len(members) < MOST_TOGETHER and not taken & names:
                taken |= names
                members.append(each)
                break
        else:
            found.append(((each.path.parent, each.flags), names, [each]))
    return sorted((members for _, _, members in found), key=len, reverse=True)


def look(sources, build):
    path = sources[0].path
    checks = []
    if len(sources) > 1:
        text = "".join(f'#include "{each.path}"\n' for each in sources)
        path = build / "tidy" / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".cpp")
        path.write_text(text)
        checks = ["--checks=-bugprone-suspicious-include"]
    result = subprocess.run([TOOL, "--quiet", *checks, str(path), "--", *sources[0].flags, *EXTRA], cwd=build,
                            capture_output=True, text=True)
    if result.returncode == 0:
        for each in sources:
            each.stamp.touch()
    return result


def forget_old(stamps):
    for stamp in stamps.iterdir():
        if stamp.stat().st_mtime < time.time() - STAMP_DAYS * 86400:
            stamp.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=lambda p: Path(p).resolve())
    parser.add_argument("--build", type=lambda p: Path(p).resolve(), required=True)
    parser.add_argument("--stamps", type=Path, help="where to remember what passed",
                        default=Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shepherd-tidy")
    parser.add_argument("--only", default="", help="only sources whose path contains this")
    options = parser.parse_args()

    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    rules = (options.root / ".clang-tidy").read_bytes() + version + " ".join(EXTRA).encode()
    options.stamps.mkdir(parents=True, exist_ok=True)
    (options.build / "tidy").mkdir(exist_ok=True)

    todo = []
    for entry in json.loads((options.build / "compile_commands.json").read_text()):
        flags = compile_flags(entry["command"])
        for path in sources_of(entry, options.root / "src"):
            if (options.root / "src" not in path.parents or source_tree.is_test(path.relative_to(options.root))
                    or options.only not in str(path)):
                continue
            stamp = options.stamps / fingerprint(path, flags, options.root, rules)
            if stamp.exists():
                stamp.touch()
            else:
                todo.append(Source(path, flags, stamp))

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        together = batches(todo)
        results = pool.map(lambda batch: look(batch, options.build), together)
        alone = [each for batch, result in zip(together, results) if result.returncode != 0 for each in batch]
        for each, result in zip(alone, pool.map(lambda each: look([each], options.build), alone)):
            if result.returncode != 0:
                failed += 1
                print(f"== {each.path.relative_to(options.root)}\n{result.stdout}")
                if "error:" not in result.stdout:
                    print(result.stderr)
    forget_old(options.stamps)
    print(f"clang-tidy: {len(todo)} files looked at, {len(alone)} of them alone, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
