"""docs/errors.md: every stable error code, its origin and its messages."""

import re

from reference import cpp, limits, markdown
from reference.tree import Unreadable

NAME = "errors.md"
PROSE = """# Errors

An error is an RFC 9457 problem (`docs/schemas/problem.schema.json`):

    {"type": "about:blank", "title": "Conflict", "status": 409, "code": "cursor_ahead",
     "detail": "the log ends before this cursor", "error": "the log ends before this cursor"}

`code` is stable and meant for programs; `detail` is meant for people, says what to do next, and may change. `error` repeats `detail` for
older clients. Some errors carry more members, for example `member` or `expectedSequence`. `error` messages of a WebSocket have the same
`code`.

The codes of `error` events in a task's log are another list: an agent or its runner chooses them (`docs/events.md`).

`…` stands for text that is only known when the error happens. Where a code has several messages, the table shows at most three.
"""
KINDS = """## Kinds

Every error has one of these kinds. The kind decides the HTTP status, the close code of a WebSocket, the status of a gRPC call and the exit
code of a command. *Retry* says whether the same request can succeed later without a change; such an answer has `Retry-After`.
"""
EXITS = """## Exit codes

Every command uses the same exit codes.
"""
STATUS = re.compile(r"[45]\d\d")
MOST_MESSAGES = 3


def status_rows(source):
    """{kind: (HTTP status, close constant)} and {kind: gRPC status}."""
    http = {m[0]: (int(m[1]), m[2]) for m in re.findall(
        r"\{ErrorCode::(\w+), (\d+), (k\w+)\}", source.one("api/status_map.cpp").read_text())}
    grpc = dict(re.findall(r"\{ErrorCode::(\w+), grpc::StatusCode::(\w+)\}", source.one("rpc/status_map.cpp").read_text()))
    enum = re.search(r"enum class ErrorCode[^{]*\{(.*?)\}", source.one("base/error.h").read_text(), re.DOTALL)
    for kind in re.findall(r"(\w+),", enum.group(1)):
        if kind not in http or kind not in grpc:
            raise Unreadable(f"ErrorCode::{kind} has no row in api/status_map.cpp or rpc/status_map.cpp")
    return http, grpc


def retryable(source):
    return dict(re.findall(r'\{"(\w+)", (true|false)\}', source.one("base/error.cpp").read_text()))


def exit_codes(source):
    """[(number, meaning)] and {kind: number}."""
    rows = re.findall(r"^\s+(\w+) = (\d+),\s*(?://\s*(.*))?$", source.one("exit_code.h").read_text(), re.MULTILINE)
    numbers = {name: number for name, number, _ in rows}
    of_kind, waiting = {}, []
    for kind, result in re.findall(r"case ErrorCode::(\w+):|return ExitCode::(\w+);", source.one("exit_code.cpp").read_text()):
        if kind:
            waiting.append(kind)
        else:
            of_kind.update({k: numbers[result] for k in waiting})
            waiting = []
    return [(number, text or {"0": "success"}.get(number, name)) for name, number, text in rows], of_kind


def close_codes(source):
    return dict(re.findall(r"constexpr std::uint16_t (kClose\w+) = (\d+);",
                           "\n".join(p.read_text() for p in source.files(".h"))))


class Codes:
    def __init__(self, source):
        self.source = source
        self.http, self.grpc = status_rows(source)
        self.constants = source.text_constants
        self.numbers = {n: markdown.number(v) for n, v in limits.values(source).items()}
        self.found = {}  # code: {"status": set, "messages": list, "modules": set}
        self.passed_on = []  # functions that take the code as an argument
        for path in source.files(".h", ".cpp"):
            self.read(path)
        for path in source.files(".h", ".cpp"):
            self.read_calls(path)

    def add(self, path, code, statuses, text):
        entry = self.found.setdefault(code, {"status": set(), "messages": [], "modules": set()})
        entry["status"].update(statuses)
        entry["modules"].add(self.source.module(path))
        if text and text != "…" and text not in entry["messages"]:
            entry["messages"].append(text)

    def read(self, path):
        if path.name in ("status_map.cpp", "error.cpp") or self.source.module(path) == "bench":
            return  # tables over all kinds, and programs that only developers run
        toks = self.source.tokens(path)
        for i, tok in enumerate(toks[:-4]):
            if tok == "ErrorCode" and toks[i + 1] == "::" and toks[i + 3] == ",":
                self.read_error(path, toks, i)
            elif tok.kind == "number" and STATUS.fullmatch(tok.text) and toks[i + 1] == "," and toks[i - 1] == "(" \
                    and toks[i + 2].kind == "string" and is_code(toks[i + 2].text):
                rest = cpp.rest_of_list(toks, i + 2)
                self.add(path, rest[0][0].text, [int(tok.text)], cpp.message(rest[1], self.numbers) if len(rest) > 1 else "")

    def read_error(self, path, toks, i):
        kinds = {toks[i + 2].text}
        back = i - 1  # `missing ? ErrorCode::not_found : ErrorCode::internal, "cannot_start"`
        while toks[back] == ":" and cpp.plain(toks[back - 3:back - 1]) == "ErrorCode::":
            kinds.add(toks[back - 1].text)
            back -= 4
        if not kinds <= set(self.http):
            return
        rest = cpp.rest_of_list(toks, i + 4)
        if len(rest) < 2:
            return  # a comparison or a set of kinds, not an error
        statuses = other_status(toks, i) or [self.http[k][0] for k in kinds]
        rest = [without_designator(r) for r in rest]
        around, text = enclosing(toks, i), rest[1]
        where = self.source.where(path, toks[i].line)
        names = [t.text for t in rest[0] if t.kind == "word"]
        literals = [t.text for t in rest[0] if t.kind == "string"]
        if literals and is_code(literals[-1]):
            text = local_value(toks, i, text)
            for code in literals:
                if is_code(code):
                    self.add(path, code, statuses, cpp.message(text, self.numbers))
            if bare_name(text) in around[1]:
                self.passed_on.append((path, statuses, around, text, literals[-1]))
        elif any(n in self.constants for n in names):
            code = next(self.constants[n] for n in names if n in self.constants)
            self.add(path, code, statuses, cpp.message(text, self.numbers))
        elif names and names[-1] == "reason" and len(rest[0]) > 1 and ("error" in names or "." in cpp.plain(rest[0])):
            pass  # passes an error on under another kind
        elif names and names[-1] == "reason":
            self.passed_on.append((path, statuses, around, text, None))
        else:
            raise Unreadable(f"{where}: the code of this error cannot be read; write it as a literal")

    def read_calls(self, path):
        """The calls of functions that take the code, or the message for a fixed code, as an argument."""
        toks = self.source.tokens(path)
        for home, statuses, (name, parameters), text, code in self.passed_on:
            if path != home and (code is None or home.suffix != ".h"):
                continue
            for i, tok in enumerate(toks[:-1]):
                if not (tok == name and toks[i + 1] == "("):
                    continue
                given, _ = cpp.arguments(toks, i + 1)
                if len(given) != len(parameters) or (code is None and "reason" not in parameters):
                    continue
                reason = code or (given[parameters.index("reason")][0].text
                                  if given[parameters.index("reason")][0].kind == "string" else "")
                if reason and not is_declaration(given):
                    self.add(path, reason, statuses, cpp.message(fill(text, parameters, given), self.numbers))


def other_status(toks, i):
    """[405] if the error has its own status: call.fail({ErrorCode::x, …}, 405)."""
    depth = 0
    for j in range(i, len(toks) - 2):
        if toks[j].kind == "punct" and toks[j].text in cpp.OPEN:
            depth += 1
        if toks[j].kind == "punct" and toks[j].text in cpp.CLOSE:
            depth -= 1
        if depth < 0:
            status = toks[j + 2]
            own = toks[j + 1] == "," and status.kind == "number" and STATUS.fullmatch(status.text)
            return [int(status.text)] if own else []
    return []


def without_designator(toks):
    """`.reason = "x"` as `"x"`."""
    return toks[3:] if len(toks) > 3 and toks[0] == "." and toks[2] == "=" else toks


def bare_name(toks):
    """The name in `text` and in `std::move(text)`, otherwise ""."""
    words = [t.text for t in toks if t.kind == "word"]
    if cpp.plain(toks) == f"std::move({words[-1] if words else ''})":
        return words[-1]
    return words[0] if len(toks) == 1 and words else ""


def local_value(toks, i, text):
    """The value of the local variable that holds the message, or the message itself if it is not a variable."""
    name = bare_name(text)
    for j in range(i, max(0, i - 80), -1):
        if name and toks[j] == name and toks[j + 1] == "=" and toks[j - 1].kind == "word":
            return cpp.split(toks[j + 2:i], ";")[0]
        if toks[j] == "}":
            break
    return text


def is_declaration(given):
    return all(len(a) > 1 and a[-1].kind == "word" and a[0].kind == "word" for a in given)


def is_code(text):
    return re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", text) is not None


def enclosing(toks, i):
    """Name and parameter names of the function or lambda around index i, if they can be found."""
    for j in range(i, max(0, i - 120), -1):
        if toks[j] == "(" and toks[j - 1].kind == "word" and toks[j - 2].kind in ("word", "punct"):
            given, end = cpp.arguments(toks, j)
            if end < i and given and toks[end + 1] == "{" and all(len(a) > 1 and a[-1].kind == "word" for a in given):
                return toks[j - 1].text, [a[-1].text for a in given]
    return "", []


def fill(text, parameters, given):
    """A function's message with the arguments of a call in place of its parameters."""
    if bare_name(text) in parameters:
        return given[parameters.index(bare_name(text))]
    out = []
    for tok in text:
        inside = tok.kind == "word" and tok.text in parameters
        out += given[parameters.index(tok.text)] if inside else [tok]
    return out


def server_modules(source):
    """The modules that api and rpc depend on. Their errors can reach a client of the server."""
    needs, folders = {}, {}
    for listing in (source.root / "src").rglob("CMakeLists.txt"):
        for body in re.findall(r"shepherd_module\(([^)]*)\)", re.sub(r"#[^\n]*", "", listing.read_text())):
            name = re.search(r"NAME (\w+)", body).group(1)
            deps = re.search(r"\bDEPS ([^A-Z]*)", body.replace("TEST_DEPS", "TEST"))
            needs[name] = re.findall(r"\w+", deps.group(1)) if deps else []
            folders[name] = str(listing.parent.relative_to(source.root / "src"))
    todo, seen = [n for n in ("api", "rpc") if n in needs], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += needs.get(name, [])
    return {folders[n] for n in seen if n in folders} | {f for f in folders.values() if f.startswith("store/")}


def page(source):
    codes, closes = Codes(source), close_codes(source)
    retry, (exits, exit_of) = retryable(source), exit_codes(source)
    out = [PROSE, KINDS, markdown.table(
        ["kind", "HTTP", "retry", "WebSocket close", "gRPC", "exit code"],
        [[markdown.code(k), str(h), {"true": "yes", "false": "no"}[retry[k]], closes.get(c, markdown.code(c)),
          markdown.code(codes.grpc[k]), exit_of.get(k, "1")] for k, (h, c) in codes.http.items()]),
           EXITS, markdown.table(["exit code", "meaning"], [[n, markdown.cell(text)] for n, text in exits])]
    server = server_modules(source)
    groups = (("## Codes of the server\n", True),
              ("## Codes of the command line and the runner\n\nThese arise in the program that you start. They are printed, written into "
               "the task's log or answered by `shepherd runner --listen`, which uses the statuses below.\n", False))
    for title, of_server in groups:
        rows = []
        for code, entry in sorted(codes.found.items()):
            if bool(entry["modules"] & server) != of_server:
                continue
            messages = [markdown.cell(m) for m in entry["messages"]]
            rows.append([markdown.code(code), ", ".join(map(str, sorted(entry["status"]))),
                         "<br>".join(messages[:MOST_MESSAGES]), ", ".join(sorted(entry["modules"]))])
        out += [title, markdown.table(["code", "HTTP", "detail", "module"], rows)]
    return "\n".join(out)
