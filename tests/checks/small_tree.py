"""A small source tree that keeps all rules, for the tests of the checks to break."""

import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Tree(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.write("src/base/CMakeLists.txt", "shepherd_module(NAME base LAYER 0)\n")
        self.write("src/base/clock.h", "// Threads: any.\n")
        self.write("src/model/CMakeLists.txt", "shepherd_module(NAME model LAYER 1 DEPS base LIBS fmt::fmt)\n")
        self.write("src/model/event.h", '// Threads: value.\n#include "base/clock.h"\n#include <string>\n')
        self.write("src/hub/CMakeLists.txt", "shepherd_module(NAME hub LAYER 2 DEPS model TEST_DEPS base)\n")
        self.write("src/hub/hub.h", '// Threads: any.\n#include "model/event.h"\n')
        self.write("src/hub/hub_test.cpp", '#include "base/clock.h"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_one(self, problems, *words):
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])
