"""A C++ tokenizer, sufficient to read tables, calls and constants."""

import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\((?P<body>.*?)\)(?P=mark)")
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>\d(?:[\w.]|'\w)*)
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<punct>::|->|&&|\|\||[^\s\w])
""", re.VERBOSE | re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "\\": "\\", "'": "'"}
OPEN, CLOSE = "([{", ")]}"


@dataclass
class Token:
    kind: str  # string, number, word, punct
    text: str  # for a string, its value
    line: int

    def __eq__(self, other):  # tok == "fail" compares punctuation and words, never strings
        return self.kind != "string" and self.text == other


def unescape(text):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(0)), text)


def tokens(text):
    """The tokens without comments; adjacent string literals are one."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        kind, value = match.lastgroup, match.group()
        if match.group("raw") is not None:
            kind, content = "string", match.group("body")
        elif kind == "string":
            content = unescape(value[1:-1])
        else:
            content = value
        if kind == "string" and found and found[-1].kind == "string":
            found[-1].text += content
        elif kind != "space":
            found.append(Token("word" if kind == "char" else kind, content, line))
        line += value.count("\n")
    return found


def arguments(toks, opening):
    """The arguments of the bracket at index `opening`, each a list of tokens, and the index of its closing bracket."""
    found, depth = [[]], 0
    for i in range(opening, len(toks)):
        tok = toks[i]
        if tok.kind == "punct" and tok.text in OPEN:
            depth += 1
            if depth == 1:
                continue
        if tok.kind == "punct" and tok.text in CLOSE:
            depth -= 1
            if depth == 0:
                return [a for a in found if a], i
        if depth == 1 and tok == ",":
            found.append([])
        else:
            found[-1].append(tok)
    return [a for a in found if a], len(toks)


def rest_of_list(toks, start):
    """The list elements from `start` up to the bracket that encloses them."""
    return arguments([Token("punct", "(", 0), *toks[start:]], 0)[0]


def split(toks, sign):
    """The tokens between the `sign`s that are outside all brackets."""
    found, depth = [[]], 0
    for tok in toks:
        if tok.kind == "punct" and tok.text in OPEN:
            depth += 1
        if tok.kind == "punct" and tok.text in CLOSE:
            depth -= 1
        if depth == 0 and tok == sign:
            found.append([])
        else:
            found[-1].append(tok)
    return found


def message(toks, constants=None):
    """A text expression for a reader: literals as they are, "…" for parts that are only known at run time."""
    constants = constants or {}
    branches = split(toks, "?")
    if len(branches) == 2:
        texts = [message(part, constants) for part in split(branches[1], ":")]
        return " or: ".join(dict.fromkeys(t for t in texts if t))
    out = ""
    for part in split(toks, "+"):
        text = part_of_message(part, constants)
        out += "" if text == "…" and out.endswith("…") else text
    return out


def part_of_message(part, constants):
    names = [t.text for t in part if t.kind == "word"]
    strings = [t.text for t in part if t.kind == "string"]
    if len(part) == 1 and strings:
        return strings[0]
    if names[:2] == ["fmt", "format"] and strings:
        return re.sub(r"\{[^{}]*\}", "…", strings[0]).replace("{{", "{").replace("}}", "}")
    if names[:2] in (["std", "string"], ["std", "string_view"]) and len(strings) == 1 and len(names) == 2:
        return strings[0]
    if part and part[0] == "(" and part[-1] == ")":
        return message(part[1:-1], constants)
    known = [n for n in names if n in constants]
    if names[:2] == ["std", "to_string"] and len(known) == 1 and len(names) == 3:
        return constants[known[0]]
    return "…"


def plain(toks):
    """The tokens as code on one line."""
    out = ""
    for tok in toks:
        text = f'"{tok.text}"' if tok.kind == "string" else tok.text
        out += (" " if out and re.match(r"\w", text) and re.search(r"\w$", out) else "") + text
    return out
