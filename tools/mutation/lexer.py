"""C++ and TypeScript as tokens that know where they are: enough to find places to change, and nothing more."""

import re
from dataclasses import dataclass

# Longest first. Shifts are not among them: `>>` also closes two templates.
OPERATORS = ["===", "!==", "...", "<=>", "<<=", "??=", "&&=", "||=", "=>", "->", "::", "&&", "||", "==", "!=", "<=", ">=",
             "++", "--", "+=", "-=", "*=", "/=", "|=", "&=", "??", "?."]
CPP = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<number>\d(?:[\w.]|'\w)*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<punct>%s|[^\s\w])
""" % "|".join(map(re.escape, OPERATORS)), re.VERBOSE | re.DOTALL)
PAGE = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<raw>`)
  | (?P<number>\d[\w.]*)
  | (?P<word>[A-Za-z_$\#][\w$]*)
  | (?P<punct>%s|[^\s\w])
""" % "|".join(map(re.escape, OPERATORS)), re.VERBOSE | re.DOTALL)
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


@dataclass
class Token:
    kind: str  # word, number, string, char, raw (no place to change), punct
    text: str
    begin: int
    end: int


def end_of_template(text, at):
    """The end of the template literal at text[at], with what stands between ${ and }."""
    depth, at = 0, at + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "`" and depth == 0:
            return at + 1
        elif text.startswith("${", at):
            depth, at = depth + 1, at + 1
        elif text[at] == "}" and depth:
            depth -= 1
        at += 1
    return at


def begins_regex(tokens):
    last = tokens[-1] if tokens else None
    return last is None or last.text in ("return", "typeof") or (last.kind == "punct" and last.text not in (")", "]", "}"))


DIRECTIVE = re.compile(r"#\s*else\b.*?^\s*#\s*endif\b|#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)


def tokens(text, is_page=False):
    """The tokens of the text without comments. Preprocessor lines are left out, and what #else has for other machines."""
    found, at = [], 0
    while at < len(text):
        if is_page and text[at] == "/" and (regex := REGEX.match(text, at)) and text[at + 1] not in "/*" and begins_regex(found):
            found.append(Token("raw", regex.group(), at, regex.end()))
            at = regex.end()
            continue
        if not is_page and text[at] == "#" and not text[text.rfind("\n", 0, at) + 1:at].strip():
            at = DIRECTIVE.match(text, at).end()
            continue
        match = (PAGE if is_page else CPP).match(text, at)
        end = match.end()
        if is_page and match.lastgroup == "raw":
            end = end_of_template(text, at)
        kind = "raw" if match.group("raw") else match.lastgroup
        if kind != "skip":
            found.append(Token(kind, text[at:end], at, end))
        at = end
    return found


def partners(toks):
    """For each bracket the index of the one that belongs to it."""
    found, open_ones = {}, []
    for i, tok in enumerate(toks):
        if tok.kind != "punct":
            continue
        if tok.text in OPEN:
            open_ones.append(i)
        elif tok.text in CLOSE and open_ones:
            found[i] = open_ones.pop()
            found[found[i]] = i
    return found
