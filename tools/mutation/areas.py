"""What can be mutated: an area has the files that change and the tests that cover them."""

import random
from dataclasses import dataclass

from mutation import mutants


@dataclass(frozen=True)
class Area:
    name: str
    sources: tuple  # patterns of files, relative to the tree
    programs: tuple = ()  # test programs of C++, those nearest to the code first; the page has vitest
    without: tuple = ()  # files that only tests use
    left_out: str = ""  # a --gtest_filter of tests that measure time, which depends on what else runs

    @property
    def is_page(self):
        return not self.programs


# A mutant of a header costs a build of everything that includes it, so only headers with functions in them are here.
AREAS = {area.name: area for area in (
    Area("model", ("src/model/*.cpp",), ("model_test", "store_test", "conformance_test")),
    # The plan of an append, what it uses, and what carries it out.
    Area("store", ("src/store/append_plan.*", "src/store/producer_numbers.cpp", "src/store/lease_fence.h", "src/store/batch_builder.cpp",
                   "src/model/draft.h"),
         ("store_test", "conformance_test")),
    Area("redact", ("src/redact/*.cpp", "src/redact/text_class.h"), ("redact_test", "model_test"), left_out="RedactCost*"),
    Area("page", ("web/src/model/*.ts",), without=("web/src/model/quickest.ts",)),
)}


def sources(root, area):
    """The files of the area, without tests and bounds."""
    found = {path for pattern in area.sources for path in root.glob(pattern)}
    return sorted(name for path in found if (name := str(path.relative_to(root))) not in area.without and
                  not path.stem.endswith("_test") and path.name != "limits.h" and path.suffix in (".cpp", ".h", ".ts"))


def all_mutants(root, area):
    return [mutant for name in sources(root, area) for mutant in mutants.of_file(root, name)]


def in_random_order(found, seed):
    """The mutants in an order that only depends on the seed and the source; of those at one place only one."""
    chance = random.Random(seed)
    places = {}
    for mutant in found:
        places.setdefault((mutant.file, mutant.begin, mutant.end), []).append(mutant)
    order = [chance.choice(same) for same in places.values()]
    chance.shuffle(order)
    return order
