"""Tests of the checks. Each check gets a small tree that breaks its rule and one that keeps it."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import check_docs
import check_files
import check_layers
import check_unity
from reference import cpp, limits, pages, schemas
from reference.tree import Unreadable
from small_tree import ROOT, Tree

MACHINE = "/" + "home/somebody/x"


class Layers(Tree):
    def test_declared_includes_pass(self):
        self.assertEqual(check_layers.problems(self.root), [])

    def test_upward_include(self):
        self.write("src/model/bad.cpp", '#include "hub/hub.h"\n')
        self.assert_one(check_layers.problems(self.root), "src/model/bad.cpp:1", "hub is not in its DEPS")

    def test_transitive_include_is_not_enough(self):
        self.write("src/hub/bad.cpp", '// x\n#include "base/clock.h"\n')
        self.assert_one(check_layers.problems(self.root), "src/hub/bad.cpp:2", "base is not in its DEPS")

    def test_unused_dependency(self):
        self.write("src/hub/CMakeLists.txt", "shepherd_module(NAME hub LAYER 2 DEPS model base)\n")
        self.assert_one(check_layers.problems(self.root), "src/hub/CMakeLists.txt", "includes nothing of base")

    def test_dependency_declared_twice(self):
        self.write("src/hub/hub.cpp", '#include "base/clock.h"\n')
        self.write("src/hub/CMakeLists.txt", "shepherd_module(NAME hub LAYER 2 DEPS model base TEST_DEPS base)\n")
        self.assert_one(check_layers.problems(self.root), "TEST_DEPS")

    def test_adapter_is_its_own_module(self):
        self.write("src/store/CMakeLists.txt", "shepherd_module(NAME store LAYER 2)\n")
        self.write("src/store/sqlite/CMakeLists.txt", "shepherd_module(NAME store_sqlite LAYER 3)\n")
        self.write("src/store/sqlite/open.h", "// Threads: any.\n")
        self.write("src/store/bad.cpp", '#include "store/sqlite/open.h"\n')
        self.assert_one(check_layers.problems(self.root), "store_sqlite is not in its DEPS")

    def test_a_second_event_loop(self):
        self.write("src/hub/bad.cpp", "#include <boost/beast/http.hpp>\n")
        self.assert_one(check_layers.problems(self.root), "src/hub/bad.cpp:1", "Boost.Beast")
        self.write("src/hub/bad.cpp", "#include <boost/asio/io_context.hpp>\n")
        self.assert_one(check_layers.problems(self.root), "src/hub/bad.cpp:1", "Boost.Asio")

    def test_simdjson_outside_json(self):
        self.write("src/json/CMakeLists.txt", "shepherd_module(NAME json LAYER 1)\n")
        for allowed in ("src/json/read.h", "src/hub/bench/hub_bench.cpp", "fuzz/json_fuzz.cpp"):
            self.write(allowed, "#include <simdjson.h>\n")
        self.assertEqual(check_layers.problems(self.root), [])
        self.write("src/hub/bad.cpp", "#include <simdjson.h>\n")
        self.assert_one(check_layers.problems(self.root), "src/hub/bad.cpp:1", "only by src/json")

    def test_private_parts_of_simdjson(self):
        for private in ("simdjson::internal::tape_type x;", "namespace simdjson::internal {}",
                        "simdjson::get_active_implementation()->create_dom_parser_implementation(1, 1, x);"):
            self.write("src/model/bad.cpp", private + "\n")
            self.assert_one(check_layers.problems(self.root), "src/model/bad.cpp:1", "private part of simdjson")

    def test_file_outside_every_module(self):
        self.write("src/stray/x.cpp", "\n")
        self.assert_one(check_layers.problems(self.root), "belongs to no module")


class Configure(Tree):
    """cmake/module.cmake itself refuses dependencies on higher layers."""

    def configure(self, model_deps):
        self.write("src/model/CMakeLists.txt", f"shepherd_module(NAME model LAYER 1 DEPS {model_deps})\n")
        self.write("src/hub/CMakeLists.txt", "shepherd_module(NAME hub LAYER 2 DEPS base)\n")
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES NONE)\n"
                   f"include({ROOT}/cmake/module.cmake)\n"
                   "add_subdirectory(src/base)\nadd_subdirectory(src/hub)\nadd_subdirectory(src/model)\n")
        (self.root / "src/hub/hub_test.cpp").unlink()
        return subprocess.run(["cmake", "-S", self.root, "-B", self.root / "out"], capture_output=True, text=True)

    def test_downward(self):
        result = self.configure("base")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_upward(self):
        result = self.configure("base hub")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("layering: model (layer 1) may not depend on hub (layer 2)", " ".join(result.stderr.split()))

    def test_unknown(self):
        result = self.configure("nothing")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("nothing", result.stderr)


class RetryFailed(unittest.TestCase):
    """tools/retry-failed lets a test pass the second time and reports it; a test that fails twice has failed."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.build = Path(directory.name)

    def run_twice(self, **tests):
        lines = [f'add_test([=[{name}]=] "/bin/sh" "-c" [=[{script}]=])' for name, script in tests.items()]
        (self.build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        first = self.build / "first.xml"
        subprocess.run(["ctest", "--test-dir", self.build, "--output-junit", first], capture_output=True)
        return subprocess.run([ROOT / "tools/retry-failed", first, "--test-dir", self.build], capture_output=True,
                              text=True)

    def once(self):
        mark = self.build / "was_here"
        return f"test -e {mark} || {{ touch {mark}; echo lost its core; exit 1; }}"

    def test_second_try_is_said_at_the_end(self):
        result = self.run_twice(sound="true", shaky=self.once())
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("FLAKY shaky passed only the second time", result.stdout)
        self.assertIn("lost its core", result.stdout)
        self.assertTrue(result.stdout.rstrip().endswith("1 FLAKY: shaky"), result.stdout)

    def test_two_failures_are_a_failure(self):
        result = self.run_twice(shaky=self.once(), broken="exit 3")
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("FLAKY", result.stdout)

    def test_only_what_failed_runs_again(self):
        result = self.run_twice(sound=f"echo ran >> {self.build / 'sound'}", shaky=self.once())
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual((self.build / "sound").read_text(), "ran\n")

    def test_a_failure_before_the_tests_is_no_test(self):
        self.assertEqual(self.run_twice(sound="true").returncode, 1)


class Unity(Tree):
    def own(self, body):
        return "namespace shepherd {\nnamespace {\n\n" + body + "\n}  // namespace\n}  // namespace shepherd\n"

    def test_different_names_pass(self):
        self.write("src/hub/a.cpp", self.own("int size(int of) {\n  return of;\n}\n"))
        self.write("src/hub/b.cpp", self.own("int size(long of) {\n  return 1;\n}\n"))
        self.assertEqual(check_unity.problems(self.root), [])

    def test_twins(self):
        for body in ("int size(int of) {\n  return of;\n}\n", "constexpr int kSize = 1;\n", "struct Size {\n  int x;\n};\n"):
            self.write("src/hub/a.cpp", self.own(body))
            self.write("src/hub/b.cpp", self.own(body))
            self.assert_one(check_unity.problems(self.root), "src/hub", "a.cpp, b.cpp")

    # `shepherd inbox` once printed a hint with the quoting function of another verb.
    def test_a_function_that_hides_another(self):
        self.write("src/model/word.h", "// Threads: value.\nnamespace shepherd {\nint word(int x);\n}\n")
        self.write("src/hub/a.cpp", self.own("int word(int x) {\n  return x;\n}\n"))
        self.write("src/hub/b.cpp", '#include "model/word.h"\n' + self.own("int twice(int x) {\n  return word(x);\n}\n"))
        self.assert_one(check_unity.problems(self.root), "src/hub/a.cpp", "word() hides", "b.cpp")

    # The server once crashed in its gRPC port: another module's class had the name of its stream.
    def test_types_of_one_name(self):
        for kind in ("class Stream final : public Base {", "struct Stream {", "enum class Stream : int {"):
            self.write("src/rpc/stream.h", "// Threads: any.\nnamespace shepherd {\n\n" + kind + "\n};\n\n}  // namespace shepherd\n")
            self.write("src/client/flow.h", "// Threads: any.\nnamespace shepherd {\n\nclass Stream {\n};\n\n}  // namespace shepherd\n")
            self.assert_one(check_unity.problems(self.root), "shepherd::Stream", "src/client/flow.h, src/rpc/stream.h")
        self.write("src/client/flow.h", "// Threads: any.\nnamespace shepherd::client {\n\nclass Stream {\n};\n\n}  // namespace shepherd::client\n")
        self.assertEqual(check_unity.problems(self.root), [])
        self.write("src/client/flow.h", "// Threads: any.\nnamespace shepherd {\n\nclass Stream;\n\n}  // namespace shepherd\n")
        self.assertEqual(check_unity.problems(self.root), [], "naming is not defining")

    def test_member_behind_a_second_namespace(self):
        self.write("src/model/word.h", "// Threads: any.\nnamespace other {\nclass X;\n}\nnamespace shepherd {\n"
                   "class Book {\n  int word(int x);\n};\n}\n")
        self.write("src/hub/a.cpp", self.own("int word(int x) {\n  return x;\n}\n"))
        self.write("src/hub/b.cpp", '#include "model/word.h"\n' + self.own("int twice(int x) {\n  return word(x);\n}\n"))
        self.assertEqual(check_unity.problems(self.root), [])


class Files(Tree):
    def test_clean_tree(self):
        self.assertEqual(check_files.problems(self.root), [])

    def test_long_file(self):
        self.write("src/hub/long.cpp", "\n" * 601)
        self.assert_one(check_files.problems(self.root), "src/hub/long.cpp", "601 lines")

    def test_banned_names(self):
        for name in ("src/hub/hub_manager.cpp", "src/hub/utils.cpp", "tools/common.py"):
            self.write(name, "\n")
            self.assert_one(check_files.problems(self.root), name)
            (self.root / name).unlink()
        self.write("src/hub/utility_rooms.cpp", "\n")
        self.assertEqual(check_files.problems(self.root), [])

    def test_machine_path(self):
        self.write("README.md", f"see {MACHINE}\n")
        self.assert_one(check_files.problems(self.root), "README.md:1")

    def test_threads_line(self):
        self.write("src/hub/quiet.h", "#pragma once\n")
        self.assert_one(check_files.problems(self.root), "src/hub/quiet.h", "Threads:")

    def test_unused_limit(self):
        self.write("src/base/limits.h", "// Threads: value.\ninline constexpr int kUsed = 1;\n"
                   "inline constexpr std::chrono::milliseconds kIdle{2};\n")
        self.write("src/hub/use.cpp", "int x = kUsed;  // unlike kIdle\n")
        self.write("src/hub/use_test.cpp", "auto y = kIdle;\n")
        self.assert_one(check_files.problems(self.root), "kIdle")

    def test_bound_outside_limits(self):
        for line in ("constexpr std::size_t kMaxTails = 7;", "static constexpr int kReplyWaitMs = 1'000;",
                     "constexpr std::chrono::milliseconds kSettle{5};", "constexpr auto kBlock = 4 * kKiB;"):
            self.write("src/hub/hub.cpp", f"int x;\n{line}\n")
            self.assert_one(check_files.problems(self.root), "src/hub/hub.cpp:2", "put it into limits.h")
        for other in ("constexpr ReadLimit kMaxPage{kPageEvents, kPageBytes};", "constexpr int kColumns = 7;",
                      'constexpr std::string_view kMaxMember = "max 1";', "constexpr int kWaiting = 1;"):
            self.write("src/hub/hub.cpp", other + "\n")
            self.assertEqual(check_files.problems(self.root), [])
        (self.root / "src/hub/hub.cpp").unlink()
        for elsewhere in ("src/hub/hub_test.cpp", "src/redact/shape.cpp"):
            self.write(elsewhere, "constexpr int kMaxTails = 7;\n")
        self.assertEqual(check_files.problems(self.root), [])

    def test_exception_for_a_bound_that_is_gone(self):
        self.write("src/net/timers.cpp", "constexpr std::chrono::milliseconds kFarAway{3'600'000};\n")
        self.assertEqual(check_files.problems(self.root), [])
        self.write("src/net/timers.cpp", "int x;\n")
        self.assert_one(check_files.problems(self.root), "src/net/timers.cpp", "kFarAway", "NO_BOUNDS")

    def test_exceptions_exist(self):
        for folder in check_files.WITHOUT_BOUNDS:
            self.assertTrue((ROOT / folder).is_dir(), folder)
        for name in (*(name for name, _ in check_files.NO_BOUNDS), *check_files.OWN_CHILDREN):
            self.assertTrue((ROOT / name).is_file(), name)

    def test_child_outside_process(self):
        for line in ("pid_t child = ::fork();", "posix_spawn(&pid, path, &actions, &attributes, arguments, environ);",
                     "  execvpe(arguments[0], arguments, environment);", "std::system(\"true\");", "FILE* out = popen(name, mode);"):
            self.write("src/hub/hub.cpp", f"// fork() here\n{line}\n")
            self.assert_one(check_files.problems(self.root), "src/hub/hub.cpp:2", "src/process")
        self.write("src/hub/hub.cpp", "chats.fork(session, through); posix_spawnattr_init(&x); Voice::system(x); auto kFork = 1;\n")
        for allowed in ("src/process/launch.cpp", "src/hub/hub_test.cpp", "src/cli/detach.cpp"):
            self.write(allowed, "pid_t child = fork();\n")
        self.assertEqual(check_files.problems(self.root), [])
        self.write("src/cli/detach.cpp", "int x;\n")
        self.assert_one(check_files.problems(self.root), "src/cli/detach.cpp", "OWN_CHILDREN")

    def test_skip_that_stays_green(self):
        self.write("src/hub/hub_test.cpp", "if (old) GTEST_SKIP();\n")
        self.assert_one(check_files.problems(self.root), "src/hub/hub_test.cpp:1", "LEAVE_OUT_WITHOUT")
        self.write("src/hub/hub_test.cpp", 'if (old) LEAVE_OUT_WITHOUT("x") << "y";\n')
        self.write("src/base/lack_for_test.h", "  GTEST_SKIP()\n")
        self.assertEqual(check_files.problems(self.root), [])

    def test_object_text_that_fills_itself(self):
        self.write("src/hub/fill.cpp", "std::string good = object_text([&](JsonObject& o) { o.text(\"good\", a.good); });\n"
                   "std::string bad = object_text([&](JsonObject& o) {\n  o.flag(\"x\", true);\n  bad.append(\",\");\n});\n")
        self.assert_one(check_files.problems(self.root), "src/hub/fill.cpp:2", "'bad'")

    def test_hidden_members(self):
        hidden = "// Threads: any.\nclass Gate;\nclass Hub {\n private:\n  struct %s;\n  std::unique_ptr<%s> x_;\n};\n"
        for name in ("src/hub/hidden.h", "sdk/cpp/include/hidden.h"):
            self.write(name, hidden % ("Parts", "Parts"))
            self.assert_one(check_files.problems(self.root), f"{name}:5", "Parts")
            self.write(name, hidden % ("Impl", "Impl"))
            self.assertEqual(check_files.problems(self.root), [])

    def test_exception_for_hidden_members_that_are_gone(self):
        self.write("src/net/http.h", "// Threads: any.\nclass Responder {\n  class Target;\n};\n")
        self.assertEqual(check_files.problems(self.root), [])
        self.write("src/net/http.h", "// Threads: any.\nclass Responder {};\n")
        self.assert_one(check_files.problems(self.root), "src/net/http.h", "Target", "HIDDEN_TYPES")


class Docs(Tree):
    """The reference pages follow the source: changing only one of them is reported."""

    KEYS = """
std::vector<ConfigKey> make_keys() {
  const Accept auth{"token", "none"};
  return {
      listen_key("public.listen", "address for people", MEMBER(open.listen)),
      text_key("public.auth", "credentials of a caller", MEMBER(open.auth), auth),
      number_key("retention.days", "how long events "
                 "are kept", MEMBER(days), 0, 36'500),
  };
}
const std::vector<KeyAlias>& config_aliases() {
  static const std::vector<KeyAlias> aliases{{"observability.dashboard_port", "public.listen", true}};
}
"""
    ERRORS = """
Result<void> look() { return fail(ErrorCode::not_found, "unknown_task", "there is no task " + id); }
std::unexpected<Error> wrong(std::string reason, std::string message) {
  return fail(ErrorCode::conflict, std::move(reason), std::move(message));
}
Result<void> claim() { return wrong("already_claimed", "another runner has it"); }
void page(Call call) { call.fail({ErrorCode::not_found, "no_page", fmt::format("{} is empty", name), {}}, 406); }
"""

    def setUp(self):
        super().setUp()
        for name, layer in (("api", 4), ("rpc", 4), ("config", 3)):
            self.write(f"src/{name}/CMakeLists.txt", f"shepherd_module(NAME {name} LAYER {layer} DEPS base hub)\n")
        self.write("src/base/limits.h", "inline constexpr std::size_t kKiB = 1024;\n"
                   "inline constexpr std::size_t kMaxLineBytes = 64 * kKiB;  // one line\n"
                   "                                                        // of an agent\n"
                   "inline constexpr std::chrono::milliseconds kQuiet{90'000};\n")
        self.write("src/base/error.h", "enum class ErrorCode : std::uint8_t {\n  not_found,\n  conflict,\n};\n")
        self.write("src/api/status_map.cpp", "{ErrorCode::not_found, 404, kCloseGone}, {ErrorCode::conflict, 409, kCloseGone}\n")
        self.write("src/base/error.cpp", '{"not_found", false}, {"conflict", true},\n')
        self.write("src/hub/exit_code.h", "  ok = 0,\n  missing = 5,  // no such task\n")
        self.write("src/hub/exit_code.cpp", "case ErrorCode::not_found:\n  return ExitCode::missing;\n")
        self.write("src/api/status_map.h", "inline constexpr std::uint16_t kCloseGone = 4102;\n")
        self.write("src/rpc/status_map.cpp", "{ErrorCode::not_found, grpc::StatusCode::NOT_FOUND}, "
                   "{ErrorCode::conflict, grpc::StatusCode::FAILED_PRECONDITION}\n")
        self.write("src/hub/errors.cpp", self.ERRORS)
        self.write("src/hub/metrics.cpp", 'metrics.counter("shepherd_tails_total", "Tails made", "kind=\\"all\\"");\n')
        self.write("src/config/config_keys.cpp", self.KEYS)
        self.write("src/config/config.h", 'struct PortConfig { std::string listen; std::string auth = "token"; };\n'
                   "inline PortConfig port_at(std::string listen) {\n}\n"
                   'struct Config { PortConfig open = port_at("127.0.0.1:8080"); int days = 30; };\n')
        self.write("src/config/verb_serve.cpp", 'flags.add_key(*command, "--listen", "public.listen", "Address");\n')
        self.write("src/model/event_type.h", "enum class EventType : std::uint8_t {\n  other,\n  error,\n};\n")
        self.write("src/model/event_type.cpp", 'constexpr std::array<std::string_view, 2> kNames{"", "error"};\n')
        known = {name: {"type": "object"} for name, _ in schemas.FILES.values()}
        known["Event"] = {
            "required": ["type"], "properties": {"type": {"type": "string", "description": "its kind"}, "state": {"$ref": schemas.POINTER + "State"}},
            "allOf": [{"if": {"properties": {"type": {"const": "error"}}}, "then": {"properties": {"data": {"$ref": schemas.POINTER + "ErrorData"}}}}]}
        known["State"] = {"enum": ["queued"]}
        known["ErrorData"] = {"type": "object", "properties": {"fatal": {"type": "boolean"}}}
        known["StreamMessage"] = {"oneOf": [{"description": "an event", "properties": {
            "type": {"const": "task_event"}, "data": {"$ref": schemas.POINTER + "Event"}}}]}
        self.write("src/api/openapi.json", json.dumps({"components": {"schemas": known}}))
        self.generate()

    def generate(self):
        for name, text in pages.make(self.root).items():
            self.write("docs/" + name, text)

    def page(self, name):
        return (self.root / "docs" / name).read_text()

    def test_current_pages(self):
        self.assertEqual(list(check_docs.stale_pages(self.root)), [])

    def test_what_the_pages_say(self):
        configuration, errors = self.page("configuration.md"), self.page("errors.md")
        self.assertIn("| `public.listen` | address | `127.0.0.1:8080` | address for people | `SHEPHERD_PUBLIC_LISTEN` | "
                      "`--listen` |", configuration)
        self.assertIn("`token` | credentials of a caller (`token`, `none`)", configuration)
        self.assertIn("`30` | how long events are kept (0 to 36,500)", configuration)
        self.assertIn("| `observability.dashboard_port` | `public.listen` (its port only) |", configuration)
        self.assertIn("| `unknown_task` | 404 | there is no task … | hub |", errors)
        self.assertIn("| `already_claimed` | 409 | another runner has it | hub |", errors)
        self.assertIn("| `no_page` | 406 | … is empty | hub |", errors)
        self.assertIn("| `not_found` | 404 | no | 4102 | `NOT_FOUND` | 5 |", errors)
        self.assertIn("| `conflict` | 409 | yes | 4102 | `FAILED_PRECONDITION` | 1 |", errors)
        self.assertIn("| 5 | no such task |", errors)
        self.assertIn("| `shepherd_tails_total` | counter | `kind` | Tails made |", self.page("metrics.md"))
        self.assertIn("| `kMaxLineBytes` | 64 KiB | one line of an agent |", self.page("limits.md"))
        self.assertIn("| `kQuiet` | 90 s |", self.page("limits.md"))
        self.assertIn("| `fatal` | boolean |", self.page("events.md"))

    def test_every_kind_of_change_is_found(self):
        for name, old, new, page in (
                ("src/config/config.h", "days = 30", "days = 31", "configuration.md"),
                ("src/config/config_keys.cpp", "credentials of a caller", "how a caller signs in", "configuration.md"),
                ("src/hub/errors.cpp", '"unknown_task"', '"no_task"', "errors.md"),
                ("src/hub/metrics.cpp", "Tails made", "Tails kept", "metrics.md"),
                ("src/base/limits.h", "90'000", "80'000", "limits.md"),
                ("src/api/openapi.json", "its kind", "what it is", "schemas/event.schema.json"),
                ("docs/schemas/event.schema.json", "fatal", "deadly", "schemas/event.schema.json"),
                ("docs/limits.md", "90 s", "91 s", "limits.md")):
            before = (self.root / name).read_text()
            self.write(name, before.replace(old, new))
            found = [line for line in check_docs.stale_pages(self.root) if f"docs/{page}" in line]
            self.assert_one(found, f"docs/{page}", "run tools/generate-docs")
            self.write(name, before)

    def test_schemas_stand_on_their_own(self):
        event = json.loads(self.page("schemas/event.schema.json"))
        self.assertEqual(event["properties"]["state"], {"$ref": "#/$defs/State"})
        self.assertEqual(set(event["$defs"]), {"State", "ErrorData"})
        message = json.loads(self.page("schemas/stream-message.schema.json"))
        self.assertEqual(message["oneOf"][0]["properties"]["data"], {"$ref": "event.schema.json"})

    def test_a_schema_by_hand_is_found(self):
        self.write("docs/schemas/odd.schema.json", "{}")
        self.assert_one(list(check_docs.stale_pages(self.root)), "docs/schemas/odd.schema.json", "delete it")

    def test_missing_page(self):
        (self.root / "docs/errors.md").unlink()
        self.assert_one(list(check_docs.stale_pages(self.root)), "docs/errors.md")

    def test_what_cannot_be_read_is_an_error(self):
        for name, text in (
                ("src/hub/bad.cpp", "auto f() { return fail(ErrorCode::conflict, word_for(x), text); }\n"),
                ("src/hub/bad.cpp", 'void f() { make("shepherd_odd_total"); }\n'),
                ("src/hub/limits.h", "inline constexpr auto [a, b] = two();\n"),
                ("src/api/openapi.json", '{"components": {"schemas": {"Event": {}}}}'),
                ("src/model/event_type.cpp", 'kNames{"", "mistake"};\n')):
            before = (self.root / name).read_text() if (self.root / name).exists() else None
            self.write(name, text)
            self.assertRaises(Unreadable, pages.make, self.root)
            self.assert_one(list(check_docs.stale_pages(self.root)), "cannot read the source")
            (self.root / name).unlink()
            if before is not None:
                self.write(name, before)

    def test_modules_in_the_architecture(self):
        page = "## The picture\n\n```\nlayer\n 4  api  rpc\n 3  config\n%s```\n\n| `api` | 4 | x |\n| `rpc` | %d | x |\n| `config` | 3 | x |\n"
        declared = check_docs.modules(self.root)
        others = {name: layer for name, layer in declared.items() if name not in ("api", "rpc", "config")}
        rest = "".join(f" {layer}  {name}\n" for name, layer in others.items())
        rows = "".join(f"| `{name}` | {layer} | x |\n" for name, layer in others.items())
        self.write("ARCHITECTURE.md", page % (rest, 4) + rows)
        self.assertEqual(list(check_docs.wrong_modules(self.root)), [])
        self.write("ARCHITECTURE.md", page % (rest, 5) + rows)
        self.assert_one(list(check_docs.wrong_modules(self.root)), "the table of folders has rpc in layer 5, CMake in 4")
        self.write("ARCHITECTURE.md", page % (rest + " 9  ghost\n", 4) + rows)
        self.assert_one(list(check_docs.wrong_modules(self.root)), "the picture has ghost in layer 9, CMake in None")

    def test_dead_link(self):
        self.write("README.md", "See `docs/errors.md`, [limits](docs/limits.md), [web](https://x.org/a.md) and docs/nowhere.md.\n")
        found = list(check_docs.dead_links(self.root))
        self.assertIn("README.md:1: leads to docs/nowhere.md, which is not there", found)
        self.assertEqual([f for f in found if f.startswith("README.md")], found[:1])

    def test_reading_of_c_plus_plus(self):
        toks = cpp.tokens('fail("a \\"b\\" " /* x */ "c" + std::to_string(kMost) + (x ? "!" : ""), \'"\', 1\'000)')
        given, _ = cpp.arguments(toks, 1)
        self.assertEqual(len(given), 3)
        self.assertEqual(cpp.message(given[0], {"kMost": "7"}), 'a "b" c7!')
        self.assertEqual(limits.evaluate("2 * 1'000 + kOther", {"kOther": 3}), 2003)
        self.assertIsNone(limits.evaluate("unknown()", {}))


class Tidy(Tree):
    """clang-tidy also checks the lock annotations."""

    SOURCE = """#include "base/mutex.h"
namespace shepherd {
class Box {
 public:
  int peek() { %s return value_; }
 private:
  Mutex mutex_;
  int value_ GUARDED_BY(mutex_) = 0;
};
int look() { Box box; return box.peek(); }
}  // namespace shepherd
"""

    def run_tidy(self, *bodies, names=("Box", "Chest", "Case")):
        (self.root / "src/base/mutex.h").write_text((ROOT / "src/base/mutex.h").read_text())
        self.write(".clang-tidy", (ROOT / ".clang-tidy").read_text())
        commands = []
        for number, (body, name) in enumerate(zip(bodies, names)):
            file = f"src/base/box_{number}.cpp"
            self.write(file, (self.SOURCE % body).replace("Box", name).replace("look", f"look_{number}"))
            commands.append({"directory": str(self.root), "file": file,
                             "command": f"c++ -std=c++23 -I{self.root}/src -o {file}.o -c {file}"})
        self.write("build/compile_commands.json", json.dumps(commands))
        return subprocess.run(["python3", "-B", ROOT / "tests/checks/check_tidy.py", self.root, "--build",
                               self.root / "build", "--stamps", self.root / "stamps"], capture_output=True, text=True)

    def test_unguarded_read(self):
        result = self.run_tidy("")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("thread-safety", result.stdout)

    def test_guarded_read_and_its_stamp(self):
        self.assertIn("1 files looked at, 0 of them alone, 0 with", self.run_tidy("MutexLock lock(mutex_);").stdout)
        self.assertIn("0 files looked at", self.run_tidy("MutexLock lock(mutex_);").stdout)
        self.assertIn("1 files looked at", self.run_tidy("MutexLock held(mutex_);").stdout)

    def test_files_looked_at_together(self):
        good = "MutexLock lock(mutex_);"
        result = self.run_tidy(good, good, "")
        self.assertIn("3 files looked at, 3 of them alone, 1 with findings", result.stdout)
        self.assertIn("== src/base/box_2.cpp", result.stdout)
        self.assertIn("1 files looked at, 0 of them alone, 0 with", self.run_tidy(good, good, good).stdout)

    def test_files_that_cannot_be_joined(self):
        good = "MutexLock lock(mutex_);"
        result = self.run_tidy(good, good, names=("Box", "Box"))
        self.assertIn("2 files looked at, 2 of them alone, 0 with findings", result.stdout)


if __name__ == "__main__":
    unittest.main()
