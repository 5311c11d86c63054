"""The mutants of a source file: every place where one small change gives a program that does something else.

Left out are comments, preprocessor lines, assertions, texts for people (strings with a blank in them), declared types,
bounds (limits.h, a constant kName that is a number, every kMax, kMin, kMost and kLeast) and calls of reserve(), which only
save time.
"""

import re
from dataclasses import dataclass

from mutation import lexer

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
CONSTANTS = {"true": "false", "false": "true"}
WHOLE_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlLzZ]*)$")
BOUND = re.compile(r"k(Max|Min|Most|Least)[A-Z]\w*$")
NAMED_NUMBER = re.compile(r"k[A-Z]\w*$")
ASSERTIONS = {"assert", "static_assert", "SHEPHERD_ASSERT"}
DECLARES_TYPE = {"import", "type", "interface"}  # of the page
CAN_LEAVE = {"return", "break", "continue"}
NO_EXPRESSION = {"if", "for", "while", "switch", "catch", "const", "let", "auto"}
AFTER_NAME = {"(", ".", "->", "=", "+=", "-=", "|=", "[", "?.", "++", "--"}


@dataclass(frozen=True)
class Mutant:
    file: str  # relative to the tree
    line: int
    kind: str  # comparison, logic, negation, arithmetic, constant, number, text, statement
    change: str  # for people: `<` to `<=`
    before: str  # the line as it is, and as it becomes; both without the blanks around them
    after: str
    begin: int  # text[begin:end] is replaced by `instead`
    end: int
    instead: str

    def applied(self, text):
        return text[:self.begin] + self.instead + text[self.end:]


class Finder:
    def __init__(self, name, text, is_page):
        self.name, self.text, self.is_page = name, text, is_page
        self.toks = lexer.tokens(text, is_page)
        self.partner = lexer.partners(self.toks)
        self.skipped = self.places_left_out()
        self.found = []

    def mutants(self):
        for i, tok in enumerate(self.toks):
            if i in self.skipped:
                continue
            if tok.kind == "punct":
                self.operator(i, tok)
            elif tok.kind == "word":
                self.word(i, tok)
            elif tok.kind == "number":
                self.number(tok)
            elif tok.kind in ("string", "char") and "|" not in (self.at(i - 1), self.at(i + 1)):  # "a" | "b" is a type
                self.literal(tok)
            if self.begins_statement(i):
                self.statement(i)
        return self.found

    def add(self, kind, begin, end, instead, change=None):
        old = self.text[begin:end]
        line_begin = self.text.rfind("\n", 0, begin) + 1
        line_end = self.text.find("\n", begin)
        line_end = len(self.text) if line_end < 0 else line_end
        after = self.text[line_begin:begin] + instead + (self.text[end:line_end] if end <= line_end else "")
        self.found.append(Mutant(self.name, self.text.count("\n", 0, begin) + 1, kind, change or f"`{old}` to `{instead}`",
                                 self.text[line_begin:line_end].strip(), after.strip(), begin, end, instead))

    # What is left out.

    def places_left_out(self):
        out = set()
        for i, tok in enumerate(self.toks):
            if tok.kind != "word":
                continue
            call = self.at(i + 1) == "("
            if (tok.text in ASSERTIONS or tok.text == "reserve") and call:
                out.update(range(self.statement_begin(i), self.partner.get(i + 1, i) + 1))
            sign = self.at(i + 2) == "-"
            alone = self.kind(i + 2 + sign) == "number" and self.at(i + 3 + sign) == ";"
            if self.at(i + 1) == "=" and (BOUND.match(tok.text) or (NAMED_NUMBER.match(tok.text) and alone)):
                out.update(range(i, self.statement_end(i) + 1))
            if self.is_page and tok.text in DECLARES_TYPE and self.begins_line(tok):
                out.update(range(i, self.declaration_end(i) + 1))
        return out

    def at(self, i):
        return self.toks[i].text if 0 <= i < len(self.toks) else ""

    def begins_line(self, tok):
        return self.text[self.text.rfind("\n", 0, tok.begin) + 1:tok.begin] in ("", "export ")

    def statement_begin(self, i):
        while i > 0 and self.at(i - 1) not in (";", "{", "}"):
            i -= 1
        return i

    def statement_end(self, i):
        while i < len(self.toks) and self.at(i) != ";":
            i = self.partner[i] if self.at(i) in lexer.OPEN and i in self.partner else i
            i += 1
        return min(i, len(self.toks) - 1)

    def declaration_end(self, i):
        while i < len(self.toks):
            if self.at(i) in lexer.OPEN and i in self.partner:
                i = self.partner[i]
                if self.at(i) == "}" and self.at(i + 1) not in (";", "from", "|", "&", "["):
                    return i
            elif self.at(i) == ";":
                return i
            i += 1
        return len(self.toks) - 1

    # What is changed.

    def operator(self, i, tok):
        # The formatter puts blanks around operators, and none around the brackets of a template or before && of a type.
        blanks = self.text[tok.begin - 1:tok.begin].isspace() and self.text[tok.end:tok.end + 1].isspace()
        if blanks and tok.text in COMPARISONS and self.at(i - 1) != "operator":
            self.add("comparison", tok.begin, tok.end, COMPARISONS[tok.text])
        elif blanks and tok.text in LOGIC:
            self.add("logic", tok.begin, tok.end, LOGIC[tok.text])
        elif blanks and tok.text in ARITHMETIC and not {self.kind(i - 1), self.kind(i + 1)} & {"string", "char", "raw"}:
            self.add("arithmetic", tok.begin, tok.end, ARITHMETIC[tok.text])
        elif tok.text == "!" and not blanks:
            self.add("negation", tok.begin, tok.end, "", "`!` removed")

    def kind(self, i):
        return self.toks[i].kind if 0 <= i < len(self.toks) else ""

    def word(self, i, tok):
        if tok.text in CONSTANTS and self.at(i - 1) != ":":  # `: true` declares a type on the page
            self.add("constant", tok.begin, tok.end, CONSTANTS[tok.text])
        elif tok.text in CONSTANTS and not self.is_page:
            self.add("constant", tok.begin, tok.end, CONSTANTS[tok.text])
        elif tok.text in ("if", "while") and self.at(i + 1) == "(" and i + 1 in self.partner:
            begin, end = i + 2, self.partner[i + 1]
            inner = [k for k in range(begin, end) if self.at(k) == ";"]
            begin = inner[-1] + 1 if inner else begin
            declares = not inner and any(self.at(k) == "=" for k in range(begin, end))
            if begin < end and not declares:
                first, last = self.toks[begin].begin, self.toks[end - 1].end
                self.add("negation", first, last, f"!({self.text[first:last]})", "condition negated")

    def number(self, tok):
        whole = WHOLE_NUMBER.match(tok.text.replace("'", "").replace("_", ""))
        if not whole:
            return
        value = int(whole.group(1), 0) if not re.match(r"0\d", whole.group(1)) else int(whole.group(1), 8)
        self.add("number", tok.begin, tok.end, f"{value + 1}{whole.group(2)}")
        if value > 0:
            self.add("number", tok.begin, tok.end, f"{value - 1}{whole.group(2)}")

    def literal(self, tok):
        quote, value = tok.text[0], tok.text[1:-1]
        if tok.kind == "char":
            self.add("text", tok.begin, tok.end, "'~'" if value != "~" else "'^'")
        elif value and not re.search(r"\s", value):
            self.add("text", tok.begin, tok.end, f"{quote}~{value}{quote}")

    def begins_statement(self, i):
        before = self.at(i - 1)
        if before in (";", "{", "}", "else"):
            return True
        return before == ")" and self.at(self.partner.get(i - 1, 0) - 1) in ("if", "for", "while")

    def statement(self, i):
        tok = self.toks[i]
        if tok.text not in ("++", "--"):
            if tok.kind != "word":
                return
            k = i + 1
            while tok.text not in CAN_LEAVE and self.at(k) == "::":
                k += 2
            if tok.text in NO_EXPRESSION or (tok.text not in CAN_LEAVE and self.at(k) not in AFTER_NAME):
                return
        last = self.statement_end(i)
        if self.at(last) != ";" or any(self.at(k) == ";" for k in range(i, last)):
            return
        begin, end = tok.begin, self.toks[last].end
        shown = " ".join(self.text[begin:end].split())
        self.add("statement", begin, end, "{}", f"`{shown if len(shown) <= 60 else shown[:57] + '...'}` removed")


def of_text(name, text, is_page):
    return Finder(name, text, is_page).mutants()


def of_file(root, name):
    return of_text(name, (root / name).read_text(), name.endswith(".ts"))
