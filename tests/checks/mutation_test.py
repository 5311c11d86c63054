"""tools/mutate finds the places that matter and judges a mutant correctly, and its list of survivors is current."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutation import areas, mutants, survivors  # noqa: E402
from mutation.cpp_tests import CppTests  # noqa: E402
from mutation.outcome import KILLED, REFUSED, SURVIVED, Outcome  # noqa: E402
from mutation.scratch import Scratch  # noqa: E402

CPP = """#include <map>  // a < b
constexpr int kMaxTurns = 40;
constexpr int kTurns = -12;
/* if (x == 1) return; */
static_assert(sizeof(int) == 4);
std::map<int, int> table(std::string&& name, bool known = false) {
  if (name == "queued" && !known) return {};
  if (auto found = find(name); found > 3) log("It is full.");
  assert(known != false);
  table_.reserve(name.size() + 8);
  table_.clear();
  return table_;
}
#ifdef X
int width() { return 2; }
#else
int width() { return 1; }
#endif
"""
PAGE = """import {a} from "./a";
export type Kind = "one" | "two";
export interface Row {
  state: "open";
  count: 1;
}
const kBehind = 8;
export function size(rows: Array<Row>, at: number, how: "a" | "b"): number {
  const name = rows.length >= at ? /a<b "c"/.source : `${at === 2}`;
  rows.pop();
  return name.length - 1;
}
"""


def changes(name, text):
    return {(m.line, m.change) for m in mutants.of_text(name, text, name.endswith(".ts"))}


class Picker(unittest.TestCase):
    def test_places_in_cpp(self):
        self.assertEqual(changes("x.cpp", CPP), {
            (6, "`false` to `true`"),
            (7, "condition negated"), (7, "`==` to `!=`"), (7, '`"queued"` to `"~queued"`'), (7, "`&&` to `||`"),
            (7, "`!` removed"), (7, "`return {};` removed"),
            (8, "condition negated"), (8, "`>` to `>=`"), (8, "`3` to `4`"), (8, "`3` to `2`"),
            (8, '`log("It is full.");` removed'),
            (11, "`table_.clear();` removed"), (12, "`return table_;` removed"),
            (15, "`return 2;` removed"), (15, "`2` to `3`"), (15, "`2` to `1`"),
        })

    def test_places_on_the_page(self):
        self.assertEqual(changes("x.ts", PAGE), {
            (9, "`>=` to `>`"), (10, "`rows.pop();` removed"),
            (11, "`return name.length - 1;` removed"), (11, "`-` to `+`"), (11, "`1` to `2`"), (11, "`1` to `0`"),
        })

    def test_a_mutant_is_the_line_with_one_change(self):
        mutant = next(m for m in mutants.of_text("x.cpp", CPP, False) if m.change == "condition negated" and m.line == 8)
        self.assertEqual(mutant.before, 'if (auto found = find(name); found > 3) log("It is full.");')
        self.assertEqual(mutant.after, 'if (auto found = find(name); !(found > 3)) log("It is full.");')
        self.assertEqual(mutant.applied(CPP), CPP.replace("found > 3", "!(found > 3)"))

    def test_the_seed_decides_the_order(self):
        found = mutants.of_text("x.cpp", CPP, False)
        self.assertEqual(areas.in_random_order(found, 7), areas.in_random_order(found, 7))
        self.assertNotEqual(areas.in_random_order(found, 7), areas.in_random_order(found, 8))
        self.assertEqual(len(areas.in_random_order(found, 7)), len(found) - 2, "one of the two changes of a number")

    def test_every_area_has_sources_and_no_tests_or_bounds_among_them(self):
        for area in areas.AREAS.values():
            names = areas.sources(ROOT, area)
            self.assertTrue(names, area.name)
            self.assertFalse([n for n in names if "_test." in n or n.endswith("limits.h")], area.name)

    def test_listed_survivors_are_mutants_and_have_a_reason(self):
        self.assertEqual(list(survivors.problems(ROOT)), [])


class Judge(unittest.TestCase):
    """A program of two files: the test looks at one end of a range only."""

    FILES = {
        "CMakePresets.json": json.dumps({"version": 6, "configurePresets": [
            {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}]}),
        "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(tiny CXX)
add_compile_options(-Wall -Werror)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(tiny_test range.cpp range_test.cpp)
""",
        "range.cpp": """bool in_range(int value) {
  if (value < 0) return false;
  return value <= 9;
}
int steps(int value) {
  int count = 0;
  while (value > 0) {
    value -= 3;
    ++count;
  }
  return count;
}
""",
        "range_test.cpp": """#include <cstdio>
bool in_range(int value);
int steps(int value);
int main() {
  std::puts("[ RUN      ] Range.Ends");
  std::fflush(stdout);
  bool good = in_range(9) && !in_range(10) && !in_range(-1) && steps(7) == 3;
  if (!good) std::puts("[  FAILED  ] Range.Ends (0 ms)");
  return good ? 0 : 1;
}
""",
    }

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name, "tree")
        self.root.mkdir()
        for name, text in self.FILES.items():
            (self.root / name).write_text(text)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def test_killed_survived_and_refused(self):
        area = areas.Area("tiny", ("*.cpp",), ("tiny_test",))
        scratch = Scratch(self.root, self.root.parent / "copy")
        scratch.refresh()
        tests = CppTests(area, scratch, 1)
        tests.prepare()
        tests.patience = 1
        judged = {m.change: tests.judge(m) for m in areas.all_mutants(self.root, area)
                  if m.change in ("`<=` to `<`", "`<` to `<=`", "`return value <= 9;` removed", "`value -= 3;` removed")}
        self.assertEqual(judged, {
            "`<=` to `<`": Outcome(KILLED, "tiny_test: Range.Ends"),
            "`<` to `<=`": Outcome(SURVIVED),  # no test uses 0
            "`return value <= 9;` removed": Outcome(REFUSED),
            "`value -= 3;` removed": Outcome(KILLED, "tiny_test: Range.Ends (time-out)"),
        })
        self.assertEqual((self.root / "range.cpp").read_text(), self.FILES["range.cpp"], "the tree itself never changes")
        self.assertEqual((scratch.directory / "range.cpp").read_text(), self.FILES["range.cpp"])


if __name__ == "__main__":
    unittest.main()
