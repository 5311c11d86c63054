"""Checks that clang-format would change no C++ file. `--fix` rewrites the files that it would change."""

import subprocess
import sys
from pathlib import Path

import source_tree

TOOL = "clang-format-19"


def main():
    root = Path(sys.argv[1]).resolve()
    paths = [str(p) for p in source_tree.files(root, ".h", ".cpp")]
    mode = ["-i"] if "--fix" in sys.argv else ["--dry-run", "--Werror", "--ferror-limit=1"]
    result = subprocess.run([TOOL, *mode, *paths], capture_output=True, text=True)
    if result.returncode != 0:
        wrong = sorted({line.split(":", 1)[0] for line in result.stderr.splitlines() if ": error:" in line})
        print("\n".join(wrong) or result.stderr)
        print(f"{len(wrong)} files are not formatted; run: python3 tests/checks/check_format.py . --fix")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
