"""Default values of struct members, read from their declarations."""

import re

from reference import cpp, limits
from reference.tree import Unreadable

EMPTY = {"std::string": "", "std::vector": "[]", "std::map": "{}", "bool": "false"}


class Defaults:
    def __init__(self, source):
        self.source = source
        self.bounds = limits.values(source)
        self.units = {name: kind.rsplit("::", 1)[-1] for rows in limits.bounds(source).values()
                      for _, name, kind, _, _ in rows}
        self.structs = {}
        self.makers = {}  # "port_at" -> the names of its parameters, which are also members
        for path in source.files(".h"):
            toks = source.tokens(path)
            for i, tok in enumerate(toks[:-2]):
                if tok == "struct" and toks[i + 2] == "{":
                    self.structs.setdefault(toks[i + 1].text, members(toks, i + 2))
            for name, parameters in re.findall(r"^inline \w+ (\w+)\(([^()]*)\) \{$", path.read_text(), re.MULTILINE):
                self.makers[name] = [p.split()[-1] for p in parameters.split(",") if p.strip()]

    def of(self, struct, path):
        """The default of `path` ("steering.lease_seconds") in a struct, as text."""
        name, _, rest = path.partition(".")
        kind, init = self.structs.get(struct, {}).get(name, (None, None))
        if kind is None:
            raise Unreadable(f"struct {struct} has no member {name} that can be read")
        if not rest:
            return self.value(kind, init, f"{struct}.{name}")
        if len(init) > 2 and init[0].text in self.makers and rest in self.makers[init[0].text]:
            given, _ = cpp.arguments(init, 1)
            return cpp.message(given[self.makers[init[0].text].index(rest)])
        return self.of(kind.rsplit("::", 1)[-1], rest)

    def value(self, kind, init, where):
        text = cpp.plain(init)
        if not init:
            for start, empty in EMPTY.items():
                if kind.startswith(start):
                    return empty
            raise Unreadable(f"{where} has no default")
        if init[0].kind == "string":
            return init[0].text
        if text in ("true", "false"):
            return text
        cast = re.fullmatch(r"std::chrono::duration_cast<std::chrono::(\w+)>\((k\w+)\)\.count\(\)", text)
        if cast and cast.group(2) in self.bounds:
            seconds = self.bounds[cast.group(2)] * limits.UNITS[self.units[cast.group(2)]]
            return str(round(seconds / limits.UNITS[cast.group(1)]))
        if kind.startswith("std::vector<std::string>") and init[0] == "{":
            return "[" + ", ".join(tok.text for tok in init if tok.kind == "string") + "]"
        value = limits.evaluate(text.removesuffix(".count()"), self.bounds)
        if value is None:
            raise Unreadable(f"the default of {where} cannot be worked out: {text}")
        return str(value)


def members(toks, opening):
    """{name: (type, tokens of the initializer)} of the struct whose "{" is at `opening`."""
    _, end = cpp.arguments(toks, opening)
    found = {}
    for statement in cpp.split(toks[opening + 1:end], ";"):
        declared, *init = cpp.split(statement, "=")
        if not declared or any(t == "(" or t == "{" for t in declared):
            continue
        # A name is a word before a comma or the end; commas inside <> belong to the type.
        depth, at = 0, []
        for i, tok in enumerate(declared):
            depth += (tok == "<") - (tok == ">")
            last = i + 1 == len(declared) or declared[i + 1] == ","
            if depth == 0 and last and tok.kind == "word":
                at.append(i)
        for i in at:
            found[declared[i].text] = (cpp.plain(declared[:at[0]]).replace(" ", ""), init[0] if init else [])
    return found
