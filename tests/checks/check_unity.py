"""Checks that files of a module can be compiled together (SHEPHERD_UNITY).

Names in unnamed namespaces are unique within a module, whatever the batches are. None of them may equal the name of a
function that another file of the module calls through a header: the compiler would silently call the nearer one
instead. A type outside an unnamed namespace has its name alone in the whole program: two classes of one name in one
namespace link without a word, and each runs the other's members.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

import source_tree

HIDDEN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r"^(?:template\s*<[^>]*>\s*)?(?:class|struct|enum class|enum) (\w+)", re.MULTILINE)
CONSTANT = re.compile(r"^(?:constexpr|const|constinit|thread_local)\b[\w:<>,*& ]*?[ *&](\w+)(?:\[\w*\])?\s*[={;]", re.MULTILINE)
FUNCTION = re.compile(r"^(?:template\s*<[^>]*>\s*)?(?:\[\[\w+\]\]\s*)?(?:inline |constexpr |static |extern )*"
                      r"[\w:<>,*& ]+?[ *&](\w+)\(([^)]*)\)", re.MULTILINE)
NOT_NAMES = {"if", "for", "while", "return", "switch", "defined", "static_assert", "operator"}


def code(text):
    """The text without comments and without the contents of strings."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', text, flags=re.DOTALL)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"'(\\.|[^'\\\n])'", "' '", text)


def outermost(text):
    """The text outside all braces."""
    kept, depth = [], 0
    for c in text:
        if c == "}":
            depth = max(depth - 1, 0)  # 0: the end of a namespace, whose beginning was removed
        if depth == 0:
            kept.append("}\n" if c == "}" else c)
        if c == "{":
            depth += 1
    return "".join(kept)


def functions(text):
    return [(name, arguments) for name, arguments in FUNCTION.findall(text) if name not in NOT_NAMES]


def types_of(arguments):
    parts = [re.sub(r"=.*", "", part).strip() for part in arguments.split(",")]
    return ",".join(re.sub(r"\s+\w+$", "", part) for part in parts)


class Source:
    def __init__(self, path):
        text = path.read_text(errors="replace")
        inner = outermost(code("\n".join(HIDDEN.findall(text))))
        self.path, self.code = path, code(text)
        self.hidden_functions = {name for name, _ in functions(inner)}
        self.hidden = {*TYPE.findall(inner), *CONSTANT.findall(inner),
                       *(f"{name}({types_of(arguments)})" for name, arguments in functions(inner))}


def included(path, source, seen):
    for _, quoted, name in source_tree.includes(path):
        header = source / name
        if quoted and header not in seen and header.exists():
            seen.add(header)
            included(header, source, seen)
    return seen


NAMESPACE = re.compile(r"^namespace ([\w:]+) \{\n(.*?)^\}  // namespace \1$", re.MULTILINE | re.DOTALL)
DEFINED = re.compile(r"^(?:template\s*<[^>]*>\s*)?(?:class|struct|enum class|enum) (\w+)\b(?!::)(?: final)?(?:\s*:(?!:)[^;{]*)?\s*\{",
                     re.MULTILINE)


def types_defined(path):
    """The types that other files can name, as namespace::name."""
    text = path.read_text(errors="replace")
    return {f"{space}::{name}" for space, body in NAMESPACE.findall(text)
            for name in DEFINED.findall(HIDDEN.sub("", body))}


def twin_types(root):
    holders = defaultdict(list)
    for path in sorted(source_tree.files(root / "src")):
        if source_tree.is_test(path) or path.parent.name == "main":
            continue
        for name in types_defined(path):
            holders[name].append(str(path.relative_to(root)))
    return [f"{name} is defined in {', '.join(files)}; give all but one another name"
            for name, files in sorted(holders.items()) if len(files) > 1]


def problems(root):
    source = root / "src"
    declared = {}
    for header in source_tree.files(source, ".h"):
        text = re.sub(r"namespace [\w:]+ \{", "", code(header.read_text(errors="replace")))
        declared[header] = {name for name, _ in functions(outermost(text))}
    found = twin_types(root)
    for folder in source_tree.modules(source):
        sources = [Source(path) for path in sorted(folder.glob("*.cpp")) if not source_tree.is_test(path)]
        holders = defaultdict(list)
        for each in sources:
            for name in each.hidden:
                holders[name].append(each.path.name)
        for name, files in sorted(holders.items()):
            if len(files) > 1:
                found.append(f"{folder.relative_to(root)}: {name} is in the unnamed namespace of {', '.join(files)}")
        for each in sources:
            seen = set().union(set(), *(declared[header] for header in included(each.path, source, set())))
            for other in sources:
                for name in sorted(seen & other.hidden_functions - each.hidden_functions):
                    if re.search(rf"\b{name}\(", each.code):
                        found.append(f"{other.path.relative_to(root)}: its own {name}() hides the one of a header "
                                     f"that {each.path.name} calls; give it another name")
    return found


def main():
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "files of a module can be compiled together")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
