"""The DEPS that a module's CMakeLists declares are exactly the modules it includes.

CMake refuses a dependency on a higher layer. This check refuses an include without a declared dependency and a
dependency that no file includes, so the declared graph is the real one. TEST_DEPS may name what a fixture of another
module needs to link. Boost.Asio and Boost.Beast are included nowhere: net's event loop is the only one.

simdjson is included by src/json; other modules get it through json's headers. A bench that measures against simdjson
itself and the fuzz targets, which compare with it, include it, too. Its private parts are named nowhere: they change
from one release to the next without notice.
"""

import re
import sys
from pathlib import Path

import source_tree


SIMDJSON_PRIVATE = re.compile(r"simdjson::internal\b|namespace simdjson\b|dom_parser_implementation")


def wrong_simdjson(root):
    for path in source_tree.files(root, ".h", ".cpp"):
        where = path.relative_to(root)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if SIMDJSON_PRIVATE.search(line):
                yield f"{where}:{number}: a private part of simdjson; its next release may not have it"
        if where.parts[0] == "src" and where.parts[1] != "json" and "bench" not in where.parts:
            for line, _, name in source_tree.includes(path):
                if name == "simdjson.h":
                    yield f"{where}:{line}: simdjson may be included only by src/json; use json/read.h or json/text.h"


def problems(root):
    source = root / "src"
    by_folder = source_tree.modules(source)
    found = []
    used = {module.name: set() for module in by_folder.values()}
    if not by_folder:
        return [f"{source}: no shepherd_module() found"]
    for path in source_tree.files(source, ".h", ".cpp"):
        where = path.relative_to(root)
        module = source_tree.module_of(path, by_folder)
        if module is None:
            found.append(f"{where}: belongs to no module; declare its folder with shepherd_module()")
            continue
        allowed = {module.name, *module.deps}
        if source_tree.is_test(where):
            allowed |= set(module.test_deps)
        for line, quoted, name in source_tree.includes(path):
            if name.startswith(("boost/asio", "boost/beast")):
                found.append(f"{where}:{line}: Boost.Asio and Boost.Beast are included nowhere; use net/event_loop.h")
            if not quoted:
                continue
            target = source / name
            if not target.exists():
                if (path.parent / name).exists():
                    found.append(f'{where}:{line}: include "{name}" by its path from src')
                continue  # a generated or third-party header; the compiler finds it or fails
            other = source_tree.module_of(target, by_folder)
            if other is None:
                continue
            if not source_tree.is_test(where):
                used[module.name].add(other.name)
            if other.name not in allowed:
                found.append(f"{where}:{line}: {module.name} includes {name}, but {other.name} is not in its DEPS")
    return found + list(unused(by_folder, used, root)) + list(wrong_simdjson(root))


def unused(by_folder, used, root):
    for folder, module in by_folder.items():
        where = (folder / "CMakeLists.txt").relative_to(root)
        for dep in module.deps:
            if dep not in used[module.name]:
                yield f"{where}: {module.name} includes nothing of {dep}; take it out of its DEPS"
        for dep in set(module.deps) & set(module.test_deps):
            yield f"{where}: {dep} is in DEPS; {module.name} need not name it in TEST_DEPS"


def main():
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) if found else "declared and used dependencies are the same")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
