"""Rules about files: length, names, machine-specific paths, the Threads line, bounds, children, and hidden members."""

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

# Namespaces are not indented, so an indented forward declaration is a nested type.
NESTED_TYPE = re.compile(r"^[ \t]+(?:class|struct)\s+(\w+);", re.MULTILINE)
# Nested types that are declared but not defined in their header and are no `Impl`, with the reason.
HIDDEN_TYPES = {
    ("src/hooks/hook_spool.h", "Lock"): "the type of a parameter; the class holds none",
    ("src/net/http.h", "Target"): "an interface: the header must not include the connection that implements it",
    ("src/redact/redact.h", "Rules"): "the compiled rules, with functions of their own",
}


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


# A name of a bound, by its beginning or by a part of it.
BOUND = re.compile(r"k(Max|Most|Min(?!ute)|Least|Longest|Shortest|Largest|Smallest)|"
                   r"k\w*(Timeout|Deadline|Patience|Grace|Wait(?!ing)|Interval|Period|Limit|Retry|Retries|Attempts|Pause)")
CONSTANT = re.compile(r"\bconstexpr\s+(?P<type>[\w:<>, ]+?)\s+(?P<name>k\w+)\s*[={](?P<value>[^;]*);")
SIZE = re.compile(r"\bk[KMG]iB\b|\bchrono\b")
# Folders whose numbers are no bounds of the program, with the reason.
WITHOUT_BOUNDS = {
    "src/redact": "numbers of a shape of a secret, which are read together with its rule",
    "src/bench": "what a measurement must reach, beside the measurement",
    "src/model/bench": "sizes of what is measured",
    "src/driver/claude/bench": "sizes of what is measured",
    "src/demo": "an agent for demonstrations, whose pace is its script",
    "src/process/misbehaving_agent": "an agent for tests",
    "src/mcp/mcp_check": "a client for tests",
}
# Constants that are named like bounds and are none, with the reason.
NO_BOUNDS = {
    ("src/base/clock.cpp", "kLongestHoldMs"): "base/limits.h is for bounds that modules share; all are compiled when it changes",
    ("src/cli/event_line.cpp", "kMaxUtf8Bytes"): "UTF-8",
    ("src/driver/claude/result.cpp", "kLeastShownUsd"): "what rounds to $0.0001",
    ("src/driver/codex/item.cpp", "kMostCode"): "the largest int",
    ("src/driver/codex/item.cpp", "kMostSeconds"): "keeps a product within its type",
    ("src/driver/grpc/status.cpp", "kDeadlineExceeded"): "a code of gRPC",
    ("src/driver/opencode/parts.cpp", "kLeastShownUsd"): "what rounds to $0.0001",
    ("src/driver/opencode/server_events.cpp", "kLongestMs"): "a larger difference means two clocks that differ",
    ("src/journal/cursor.cpp", "kMaxDigits"): "the encoding of 66 bits",
    ("src/json/slices.cpp", "kMostDepth"): "follows from kMaxJsonDepth",
    ("src/mcp/header_values.cpp", "kMostSafeInteger"): "the numbers that JSON readers hold exactly",
    ("src/model/event_members.cpp", "kLongestName"): "the longest name of a known member",
    ("src/model/event_members.cpp", "kMostWhole"): "the numbers that JSON readers hold exactly",
    ("src/model/wire_json_task_in.cpp", "kMostUnits"): "keeps a sum within its type",
    ("src/net/timers.cpp", "kFarAway"): "no timer is armed",
    ("src/net/websocket_frame.cpp", "kMaxControlBytes"): "RFC 6455",
    ("src/net/websocket_frame.cpp", "kMaxFrameHeaderBytes"): "RFC 6455",
    ("src/net/websocket_frame.cpp", "kMaxReasonBytes"): "RFC 6455",
    ("src/rpc/proto_bytes.h", "kMostOfField"): "the encoding of Protocol Buffers",
    ("src/runner/host_terminal.cpp", "kLongestCharacter"): "UTF-8",
    ("src/store/append_plan.cpp", "kMaxProducerSequence"): "the numbers that JSON readers hold exactly",
}


def within(name, folders):
    return any(name.startswith(folder + "/") for folder in folders)


def bounds_elsewhere(root):
    """Constants with a number of their own that are named like a bound, are a time, or a size in KiB or MiB."""
    found = set()
    for path in source_tree.files(root / "src", ".h", ".cpp"):
        name = path.relative_to(root).as_posix()
        if path.name == "limits.h" or source_tree.is_test(path.relative_to(root)) or within(name, WITHOUT_BOUNDS):
            continue
        text = path.read_text(errors="replace")
        for made in CONSTANT.finditer(text):
            is_bound = BOUND.match(made["name"]) or SIZE.search(made["type"] + made["value"])
            if not is_bound or "string_view" in made["type"] or not re.search(r"(?<!\w)\d", made["value"]):
                continue
            found.add((name, made["name"]))
            if (name, made["name"]) not in NO_BOUNDS:
                line = text.count("\n", 0, made.start()) + 1
                yield f"{name}:{line}: {made['name']} is a bound; put it into limits.h of its module, with its reason"
    for name, constant in NO_BOUNDS:
        if (root / name).exists() and (name, constant) not in found:
            yield f"{name}: has no {constant} any more; take it out of NO_BOUNDS"


# A call that starts a process, or becomes another program.
CHILD = re.compile(r"\b(?:v?fork\s*\(\s*\)|posix_spawnp?\s*\(|(?:execl|execle|execlp|execv|execve|execvp|execvpe|fexecve)\s*\(|"
                   r"popen\s*\()|(?<!\w)(?:std)?::system\s*\(")
# Files outside src/process that start a process themselves, with the reason (docs/decisions/0019).
OWN_CHILDREN = {
    "src/bench/process.cpp": "servers and peers that are measured: nothing may run between them and the measurement",
    "src/cli/detach.cpp": "the program itself goes on in the background: a fork without a program",
    "src/cli/verb_hook.cpp": "the program itself delivers in the background, and must outlive the agent's call",
    "src/demo/agent_tools.cpp": "it plays an agent, which starts its tools by itself; the warden of the agent has them",
}


def own_children(root):
    seen = set()
    for path in source_tree.files(root / "src", ".h", ".cpp"):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/process/") or source_tree.is_test(path.relative_to(root)):
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text(errors="replace"))
        if made := CHILD.search(text):
            seen.add(name)
            if name not in OWN_CHILDREN:
                line = text.count("\n", 0, made.start()) + 1
                yield f"{name}:{line}: starts a process; let src/process do it, whose warden ends all processes of a child"
    for name in OWN_CHILDREN:
        if (root / name).exists() and name not in seen:
            yield f"{name}: starts no process any more; take it out of OWN_CHILDREN"


def silent_skips(root):
    for folder in ("src", "sdk", "tests", "fuzz"):
        for path in source_tree.files(root / folder, ".h", ".cpp"):
            if path.name == "lack_for_test.h":
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if re.search(r"\bGTEST_SKIP\b", line):
                    yield f"{path.relative_to(root)}:{number}: passes in CI without running; use LEAVE_OUT_WITHOUT"


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


def hidden_members(root):
    for path in source_tree.files(root / "src", ".h") + source_tree.files(root / "sdk", ".h"):
        text = path.read_text(errors="replace")
        name = path.relative_to(root).as_posix()
        declared = {m.group(1): text.count("\n", 0, m.start()) + 1 for m in NESTED_TYPE.finditer(text)}
        for known, reason in ((k, r) for k, r in HIDDEN_TYPES.items() if k[0] == name and k[1] not in declared):
            yield f"{name}: has no nested {known[1]} any more ({reason}); take it out of HIDDEN_TYPES"
        for nested, line in declared.items():
            if nested != "Impl" and (name, nested) not in HIDDEN_TYPES:
                yield f"{name}:{line}: {nested} hides members; show them in the header, or call it Impl"


def problems(root):
    rules = (too_long, badly_named, machine_paths, threads_unsaid, unused_limits, bounds_elsewhere, own_children, silent_skips,
             filled_by_name, hidden_members)
    return [p for rule in rules for p in rule(root)]


def main():
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "files keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
