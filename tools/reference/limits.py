"""docs/limits.md: the bounds of every limits.h, with the reasons from their comments."""

import ast
import operator
import re

from reference import markdown
from reference.tree import Unreadable

NAME = "limits.md"
PROSE = """# Limits

Every queue, buffer, message and wait in Shepherd has a bound. This page lists them by module, with the reason for each. The bounds are
constants of the program; where a configuration key changes one, `docs/configuration.md` has the key and the constant is its default.

A request that exceeds a bound is refused with a status and a `code` (`docs/errors.md`); nothing is cut without a mark.
"""
DECLARATION = re.compile(r"inline constexpr ([\w:<>]+)\s+(k\w+)\s*(?:=\s*([^;{]+)|\{([^;}]*)\});")
UNITS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1.0, "minutes": 60.0, "hours": 3600.0}
ENDINGS = {"Seconds": 1, "Days": 86400}
SIZES = ("kKiB", "kMiB")  # units, not bounds
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
             ast.LShift: operator.lshift}


def evaluate(text, known):
    """The value of a constant expression of numbers and other bounds, or None."""
    text = re.sub(r"(?<=[\da-fA-F])'(?=\d)", "", text).strip()
    text = re.sub(r"(?<=\d)(?:ull|ll|ul|u|l|f)\b", "", text, flags=re.IGNORECASE)
    text = re.sub(r"std::(?:size_t|uint\d+_t|int\d+_t)\{([^{}]*)\}", r"(\1)", text)

    text = re.sub(r"static_cast<[\w:]+>", "", text)

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and node.id in known:
            return known[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = value(node.left), value(node.right)
            return None if left is None or right is None else OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        return None

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError):
        return None


def comment_after(lines, number):
    """The trailing comment of the declaration that ends on line `number`, with its continuation lines."""
    found = re.search(r"//\s?(.*)$", lines[number])
    if not found:
        return ""
    parts = [found.group(1)]
    for line in lines[number + 1:]:
        more = re.match(r"\s+//\s?(.*)$", line)
        if not more:
            break
        parts.append(more.group(1))
    return " ".join(p.strip() for p in parts)


def comment_before(lines, number):
    """The comment lines directly above; a heading (// --- x ---) does not count."""
    parts = []
    while number > 0 and re.match(r"//(?! ---)", lines[number - 1]):
        number -= 1
        parts.insert(0, lines[number][2:].strip())
    return " ".join(parts)


def bounds(source):
    """{module: [(heading, name, type, expression, reason)]} of every limits.h."""
    found = {}
    for path in source.files(".h"):
        if path.name != "limits.h":
            continue
        text = path.read_text()
        lines = text.splitlines()
        rows = found.setdefault(source.module(path), [])
        for match in DECLARATION.finditer(text):
            first, last = (text.count("\n", 0, at) for at in (match.start(), match.end()))
            headings = [m.group(1) for line in lines[:first] if (m := re.match(r"// --- (.*) ---", line))]
            reason = comment_before(lines, first) + " " + comment_after(lines, last)
            rows.append((headings[-1] if headings else "", match.group(2), match.group(1),
                         match.group(3) or match.group(4), reason.strip()))
        declared = len(re.findall(r"^inline constexpr ", text, re.MULTILINE))
        if declared != len(rows):
            raise Unreadable(f"{source.where(path)}: {declared} bounds are declared, {len(rows)} can be read; "
                             "write `inline constexpr TYPE kName = VALUE;` or `{VALUE}`")
    return found


def values(source):
    """{name: number} of every bound whose expression can be evaluated; times are in the unit of their type."""
    known, waiting = {}, [(n, e) for rows in bounds(source).values() for _, n, _, e, _ in rows]
    while True:
        left = []
        for name, expression in waiting:
            value = evaluate(expression, known)
            if value is None:
                left.append((name, expression))
            else:
                known[name] = value
        if len(left) in (0, len(waiting)):
            return known
        waiting = left


def shown(name, kind, expression, known):
    """The value for a reader: with a unit, and bytes as KiB and MiB where that is exact."""
    if name not in known:
        return markdown.code(" ".join(expression.split()))
    value = known[name]
    unit = kind.rsplit("::", 1)[-1]
    if unit in UNITS:
        return duration(value * UNITS[unit])
    if "Bytes" in name and isinstance(value, int):
        return size(value)
    for ending, seconds in ENDINGS.items():
        if name.endswith(ending):
            return duration(value * seconds)
    return markdown.number(value)


def duration(seconds):
    for step, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= step and (abs(seconds / step - round(seconds / step)) < 1e-9):
            return f"{markdown.number(round(seconds / step))} {unit}"
    return f"{seconds:g} s"


def size(value):
    for step, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= step and value % step == 0:
            return f"{markdown.number(value // step)} {unit}"
    return f"{markdown.number(value)} bytes"


def page(source):
    known = values(source)
    out = [PROSE]
    for module, rows in sorted(bounds(source).items()):
        if not rows:
            continue
        out.append(f"## {module}\n")
        out.append(markdown.table(["bound", "value", "reason"],
                                  [[markdown.code(name), shown(name, kind, expression, known), markdown.cell(reason)]
                                   for _, name, kind, expression, reason in rows if name not in SIZES]))
    return "\n".join(out)
