"""docs/configuration.md: every key of the table in config_keys.cpp."""

import re

from reference import cpp, limits, markdown
from reference.structs import Defaults
from reference.tree import Unreadable

NAME = "configuration.md"
PROSE = """# Configuration

Shepherd runs without a configuration file. To change a setting, use any of these; each one overrides those above it:

1. the **default**,
2. the **file**: the one that `--config` or `SHEPHERD_CONFIG` names, otherwise `$XDG_CONFIG_HOME/shepherd/config.yaml` or
   `~/.config/shepherd/config.yaml`,
3. the **environment**: `SHEPHERD_` and the key in capitals, with `_` for each dot,
4. a **flag**: the command's own, or `--set KEY=VALUE`, which takes every key and can be repeated (`serve`, `config`, `doctor` and
   `agent test` have it).

`shepherd config` prints the settings in effect and the source of each one. Its output is a valid configuration file:

    shepherd config > config.yaml             # not straight into the file that it reads: the shell empties that first
    mv config.yaml ~/.config/shepherd/config.yaml

The file is YAML. `public.listen` below is the key `listen` in the section `public`:

    public:
      listen: 127.0.0.1:9000
      hosts: [shepherd.example.com]
    retention:
      days: 90

An unknown key or a wrong value stops the program with an error that names the file, the line and what would be right. In the environment
and in flags, separate the elements of a list by commas (`SHEPHERD_PUBLIC_HOSTS=a.example.com,b.example.com`) or write it as in YAML.

Flags in the tables belong to `shepherd serve` unless another command is named. Every command that uses the data directory has `--data`.
"""
SECTIONS = {
    "": "General",
    "public": "Public address: people, dashboards, command lines",
    "internal": "Internal address: runners and agents",
    "grpc": "gRPC address",
    "retention": "Retention",
    "redact": "Redaction",
    "condense": "Condensing: what an event keeps of long text",
    "runners": "Runners",
    "callbacks": "Callbacks",
    "claude": "Claude Code",
    "observability": "Observability",
}
AGENTS = """Each entry under `agents` gives an agent a name, so that `shepherd run --agent NAME` finds it. An agent is a program or a service:

    agents:
      lint:
        driver: text
        command: [make, lint]
        env: {CI: "true"}
      reviewer:
        driver: grpc
        address: agents.example.com:443
        tls: {ca: ca.pem, cert: client.pem, key: client.key}
        token_file: reviewer.token

`docs/agents.md`, `docs/running-agents.md` and `docs/streaming-agents.md` describe the members of an entry.
"""


def keys(source):
    """The rows of the table: name, kind, values, default, help."""
    path = source.one("config_keys.cpp")
    toks = source.tokens(path)
    defaults, known = Defaults(source), limits.values(source)
    start = next((i for i, t in enumerate(toks) if t == "make_keys"), None)
    if start is None:
        raise Unreadable(f"{source.where(path)} has no make_keys()")
    accepts = named_lists(toks)
    opening = next(i for i in range(start, len(toks)) if toks[i] == "return") + 1
    rows, _ = cpp.arguments(toks, opening)
    for row in rows:
        if len(row) == 3:  # tools_key(): the builder has the name, the kind and the help
            yield from_builder(toks, row[0].text, defaults)
            continue
        given, _ = cpp.arguments(row, 1)
        name, text, member = given[0][0].text, given[1][0].text, cpp.plain(given[2])
        found = re.fullmatch(r"MEMBER\(([\w.]+)\)", member)
        if not found:
            raise Unreadable(f"{source.where(path, row[0].line)}: {name} does not say MEMBER(…)")
        kind = row[0].text.removesuffix("_key")
        default = data_directory(source) if name == "data" else defaults.of("Config", found.group(1))
        yield name, {"listen": "address"}.get(kind, kind), allowed(kind, text, given[3:], accepts, known), default, text


def named_lists(toks):
    """`const Accept auth{"token", "none"}`: {"auth": ["token", "none"]}."""
    return {toks[i + 1].text: [t.text for a in cpp.arguments(toks, i + 2)[0] for t in a]
            for i, tok in enumerate(toks[:-2]) if tok == "Accept" and toks[i + 2] == "{"}


def allowed(kind, text, more, accepts, known):
    if kind == "number":
        least, most = (limits.evaluate(cpp.plain(m), known) for m in (more + [[]])[:2])
        if most is None:
            return f"at least {markdown.number(least)}" if least else ""
        return f"{markdown.number(least)} to {markdown.number(most)}"
    if kind == "text" and more:
        words = accepts.get(more[0][0].text) or [t.text for t in more[0] if t.kind == "string"]
        if all(re.search(rf"\b{re.escape(w)}\b", text) for w in words):
            return ""  # the help lists them
        return ", ".join(markdown.code(w) for w in words)
    return ""


def from_builder(toks, builder, defaults):
    start = next(i for i, t in enumerate(toks) if t == builder and toks[i + 1] == "(" and toks[i + 3] == "{")
    opening = next(i for i in range(start, len(toks)) if toks[i] == "return") + 1
    given, end = cpp.arguments(toks, opening)
    body = cpp.plain(toks[opening:end])
    member = re.search(r"\bconfig\.([\w.]+)=", body)
    if not member:
        raise Unreadable(f"{builder}() sets no member of the configuration")
    return (given[0][0].text, given[1][-1].text, "", defaults.of("Config", member.group(1)), given[2][0].text)


def data_directory(source):
    """The default is computed at run time; this lists the variables that default_data_directory() reads."""
    text = source.one("find_server.cpp").read_text()
    body = re.search(r"default_data_directory\(.*?^\}", text, re.DOTALL | re.MULTILINE)
    steps = re.findall(r'environment\("(\w+)"\).*?return (?:data|\w+ \+ "([^"]*)");', body.group() if body else "")
    if not steps:
        raise Unreadable("default_data_directory() cannot be read")
    return " or ".join(markdown.code(("$" + variable + rest).replace("$HOME", "~")) for variable, rest in steps if rest)


def aliases(source):
    toks = source.tokens(source.one("config_keys.cpp"))
    start = next(i for i, t in enumerate(toks) if t == "aliases" and toks[i + 1] == "{")
    for row in cpp.arguments(toks, start + 1)[0]:
        values, _ = cpp.arguments(row, 0)
        yield values[0][0].text, values[1][0].text, len(values) > 2


def flags(source):
    """{key: ["--listen", …]} for serve's flags and for flags of other commands that set a key."""
    found = {}
    for path in source.files(".cpp"):
        toks = source.tokens(path)
        verb = path.stem.removeprefix("verb_")
        for i, tok in enumerate(toks[:-1]):
            if tok.kind == "word" and tok.text in ("add_key", "add_switch") and toks[i + 1] == "(":
                given, _ = cpp.arguments(toks, i + 1)
                if len(given) == 4 and given[1][0].kind == given[2][0].kind == "string":
                    found.setdefault(given[2][0].text, []).append((given[1][0].text, "" if verb == "serve" else verb))
            if tok == "flags" and cpp.plain(toks[i:i + 3]) == "flags.emplace_back" and path.stem.startswith("verb_"):
                given, _ = cpp.arguments(toks, i + 3)
                if len(given) == 2 and given[0][0].kind == "string" and given[0][0].text != "data":
                    found.setdefault(given[0][0].text, []).append(("--" + given[1][-1].text, verb))
    return found


def shown_flags(key, found):
    by_flag = {}
    for flag, verb in found.get(key, []):
        by_flag.setdefault(flag, []).append(verb)
    out = []
    for flag, verbs in by_flag.items():
        others = sorted(v for v in verbs if v not in ("", "config_flags"))
        out.append(markdown.code(flag) + (f" (also {', '.join(others)})" if others and len(others) < len(verbs) else
                                          f" ({', '.join(others)})" if others else ""))
    return ", ".join(out)


def shown_default(default):
    return default if default.startswith("`") else markdown.code(default) or "empty"


def page(source):
    found, rows, by_section = flags(source), list(keys(source)), {}
    for row in rows:
        section = row[0].split(".")[0] if "." in row[0] else ""
        by_section.setdefault(section if section in SECTIONS else "", []).append(row)
    out = [PROSE]
    for section, title in SECTIONS.items():
        if section not in by_section:
            continue
        out.append(f"## {title}\n")
        out.append(markdown.table(
            ["key", "type", "default", "meaning", "environment", "flag"],
            [[markdown.code(name), kind, shown_default(default),
              markdown.cell(text) + (f" ({values})" if values else ""),
              markdown.code("SHEPHERD_" + name.upper().replace(".", "_")), shown_flags(name, found)]
             for name, kind, values, default, text in by_section[section]]))
        if any(row[0] == "agents" for row in by_section[section]):
            out.append(AGENTS)
    out.append("## Other names\n\nFiles written for other programs may use these names. Where a file has both, the key on the right wins.\n")
    out.append(markdown.table(["name", "key"], [[markdown.code(n), markdown.code(k) + (" (its port only)" if port else "")]
                                                for n, k, port in aliases(source)]))
    return "\n".join(out)
