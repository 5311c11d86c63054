"""Tests of check_words.py, on small trees that break its rules."""

import subprocess
import unittest

import check_words
from small_tree import ROOT, Tree


class Words(Tree):
    def setUp(self):
        super().setUp()
        self.write("ARCHITECTURE.md", "## Words\n\n| word | meaning |\n| --- | --- |\n| task | work |\n| command, order | a wish |\n"
                   "| batch | events |\n\n## Layers\n| job | no |\n")
        self.write("src/cli/CMakeLists.txt", "shepherd_module(NAME cli LAYER 3)\n")

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.root, "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments],
                              check=True, capture_output=True, text=True).stdout.strip()

    def test_clean_tree(self):
        self.write("docs/guide.md", "Too many forever whole words.\n")
        self.write("src/cli/verb_run.cpp", '// The caller reads this.\nauto help = "Maximum number of turns";\n')
        self.assertEqual(check_words.problems(self.root), [])

    def test_phrases_in_documents(self):
        for text, word in (("a\nWhoever watches\n", "README.md:2"), ("it asks\nleave first\n", "README.md:1"),
                           ("kept for ever\n", "forever"), ("nobody\n", "no runner")):
            self.write("README.md", text)
            self.assert_one(check_words.problems(self.root), "README.md", word)

    def test_the_list_of_words_and_generated_pages_may_have_them(self):
        self.write("CONTRIBUTING.md", "# Rules\n\n## Plain English\n\nDo not write whoever.\n")
        self.write("docs/limits.md", "kept for ever\n")
        self.assertEqual(check_words.problems(self.root), [])
        self.write("CONTRIBUTING.md", "## Plain English\n\n## More\n\nWhoever.\n")
        self.assert_one(check_words.problems(self.root), "CONTRIBUTING.md:5")

    def test_phrases_in_help(self):
        self.write("src/cli/verb_run.cpp", 'auto x = 1;\nauto help = "So "\n            "many turns at most";\n')
        self.assert_one(check_words.problems(self.root), "src/cli/verb_run.cpp:2", "maximum number of")
        self.write("src/cli/verb_run.cpp", 'auto help = "Nobody runs it";\n')
        self.assert_one(check_words.problems(self.root), "src/cli/verb_run.cpp:1", "no runner")

    def test_phrases_in_comments(self):
        for text, line, word in (("int a;  // Whoever asks\n", 1, "name the person"), ("// takes so\n// many\nint a;\n", 1, "maximum number"),
                                 ("int a;\n// kept for\n//   ever\n", 2, "forever"), ("/* nobody */\n", 1, "no runner"),
                                 ("int a; // x\n\n// never heard of\n", 3, "receives")):
            self.write("src/hub/hub.cpp", text)
            self.assert_one(check_words.problems(self.root), f"src/hub/hub.cpp:{line}:", word)

    def test_strings_and_code_are_no_comments(self):
        self.write("src/hub/hub.cpp", 'auto nobody = "// and";\n// for\nint a;  // ever\nint b;\n// forever, so\n\n// many\n')
        self.assertEqual(check_words.problems(self.root), [])

    def test_strings_of_tests_are_data(self):
        self.write("src/hub/hub_test.cpp", 'auto name = "nobody";\n')
        self.assertEqual(check_words.problems(self.root), [])
        self.write("src/hub/hub.cpp", 'auto name = "nobody";\n')
        self.assert_one(check_words.problems(self.root), "src/hub/hub.cpp:1", "no runner")

    def test_phrases_of_the_page(self):
        for name, text, line in (("web/src/views/x.tsx", "<p>\n  It waits for\n  ever.</p>\n", 2), ("web/src/x.ts", "// takes so\n// many\n", 1),
                                 ("web/index.html", "<p>Nobody</p>\n", 1), ("src/api/openapi.json", '{"description": "whoever"}\n', 1)):
            self.write(name, text)
            self.assert_one(check_words.problems(self.root), f"{name}:{line}:")
            (self.root / name).unlink()
        self.write("web/src/x_test.ts", 'it("is kept for ever", () => {});\n')
        self.assertEqual(check_words.problems(self.root), [])

    def test_comments_that_continue_the_one_above(self):
        for name, text, line in (
                ("src/hub/hub.cpp", "int a;  // how many run\nint b;  // and how many wait\n", 2),
                ("src/hub/hub.cpp", "// How many run.\nint a;\n// and how many wait\nint b;\n", 3),
                ("src/hub/hub.cpp", "f();\n// Otherwise it hangs.\ng();\n", 2),
                ("src/hub/hub_test.cpp", "int a;  // one\nint b;  // until the end\n", 2),
                ("web/src/x.ts", "const a = 1;  // one\nconst b = 2;  // which is two\n", 2)):
            self.write(name, text)
            self.assert_one(check_words.problems(self.root), f"{name}:{line}:", "does not stand alone")
            (self.root / name).unlink()

    def test_comments_that_stand_alone(self):
        self.write("src/hub/hub.cpp", "// Lanes wait here\n// and run there.\nint a;\n"
                   "int b;  // one\n        // or two\n"
                   "// Which tasks wait.\nint c;\nint d;  // or null\n\nint e;  // otherwise null\n"
                   'auto f = "// and";\nint g;  // under way\nint h;  // android\n')
        self.assertEqual(check_words.problems(self.root), [])

    def test_every_plain_folder_exists(self):
        for folder in check_words.PLAIN_FOLDERS:
            self.assertTrue((ROOT / folder).is_dir(), folder)

    def test_names_of_files(self):
        self.write("src/hub/old_framed_run.h", "// Threads: value.\n")
        self.assert_one(check_words.problems(self.root), "src/hub/old_framed_run.h", "batch")
        (self.root / "src/hub/old_framed_run.h").unlink()
        self.write("src/hub/run_request.h", "// Threads: value.\n")
        self.assertEqual(check_words.problems(self.root), [])

    def test_glossary_has_the_words(self):
        self.write("ARCHITECTURE.md", "## Words\n\n| task | work |\n| command | a wish |\n\n## Layers\n| batch | no |\n")
        self.assert_one(check_words.problems(self.root), "ARCHITECTURE.md", '"batch"')

    def test_subjects(self):
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "Before the rule")
        base = self.git("rev-parse", "HEAD")
        for subject in ("hub: evict idle tails", "views, store/sqlite: part them", "h" * 5 + ": " + "x" * 65):
            self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.assertEqual(check_words.problems(self.root, base), [])
        self.git("commit", "-q", "--allow-empty", "-m", "hub: " + "x" * 68)
        self.assert_one(check_words.problems(self.root, base), "73 characters")
        self.git("commit", "-q", "--amend", "--allow-empty", "-m", "Evict idle tails")
        self.assert_one(check_words.problems(self.root, base), "begin with its module")

    def test_no_checkout_or_another_history(self):
        self.assertEqual(check_words.problems(self.root, "0" * 40), [])
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "Whatever")
        self.assertEqual(check_words.problems(self.root, "0" * 40), [])


if __name__ == "__main__":
    unittest.main()
