"""docs/metrics.md: every shepherd_* family that /metrics can contain."""

import re

from reference import cpp, markdown
from reference.tree import Unreadable

NAME = "metrics.md"
PROSE = """# Metrics

`GET /metrics` on the public address answers in the Prometheus text format. It needs a token of scope `viewer`, or
`public.metrics_open: true` (`docs/configuration.md`). Counters start at 0 when the server starts.

    scrape_configs:
      - job_name: shepherd
        authorization: {credentials_file: /etc/prometheus/shepherd.token}
        static_configs: [{targets: ["127.0.0.1:8080"]}]

Labels whose values come from agents (`agent`, `model`, `tool`) have a bound on how many values are shown; the rest is counted as `other`.
Tokens have a `class` (`input`, `output`, `cache_read`, `cache_write`), inbox entries a `kind` (`approval`, `question`, `waiting`, `stalled`, `failed`).

Useful alerts: `shepherd_commit_failures_total` increases (the disk is full or failing), `shepherd_tasks_waiting` stays above 0 while
`shepherd_claims_waiting` is 0 (too few runners), `shepherd_lease_losses_total` increases (runners die),
`shepherd_inbox_oldest_age_seconds` exceeds the time in which you answer, `shepherd_audit_dropped_total` increases.
"""
METHODS = {"counter": "counter", "gauge": "gauge", "histogram": "histogram", "computed": "gauge", "computed_counter": "counter"}
LABEL = re.compile(r'(?:^|[,{])(\w+)="')


def families(source):
    """{name: (type, help, labels, module)}, in order of modules and source."""
    found, mentioned = {}, {}
    for path in source.files(".h", ".cpp"):
        if source.module(path) == "bench":
            continue  # reads metrics but defines none
        toks = source.tokens(path)
        for i, tok in enumerate(toks[:-1]):
            if tok.kind == "string" and re.fullmatch(r"shepherd_\w+_(total|seconds|bytes|events)", tok.text):
                mentioned.setdefault(tok.text, source.where(path, tok.line))
            if tok.kind != "word" or toks[i + 1] != "(":
                continue
            given, _ = cpp.arguments(toks, i + 1)
            if not given or given[0][0].kind != "string" or not given[0][0].text.startswith("shepherd_"):
                continue
            name = given[0][0].text
            if tok.text in METHODS:
                more = given[3:] if tok.text.startswith("computed") else given[2:]
                found[name] = (METHODS[tok.text], cpp.message(given[1]), labels(more, toks), source.module(path))
            elif tok.text == "family":
                found[name] = (given[2][0].text, cpp.message(given[1]), lines_labels(toks, name), source.module(path))
    missing = sorted(set(mentioned) - set(found))
    if missing:
        raise Unreadable(f"{mentioned[missing[0]]}: {missing[0]} is registered in a way that cannot be read; "
                         "give its name and help as literals")
    return found


def labels(arguments, toks):
    """The labels in the arguments; if they come from a variable, all labels that the file writes."""
    words = [t.text for tokens in arguments for t in tokens if t.kind == "word"]
    seen = toks if "labels" in words else [t for tokens in arguments for t in tokens]
    return list(dict.fromkeys(name for tok in seen if tok.kind == "string" for name in LABEL.findall(tok.text)))


def lines_labels(toks, name):
    """The labels of text.line(name, prometheus_label("tool", …), …)."""
    found = []
    for i, tok in enumerate(toks[:-1]):
        if tok.kind == "word" and tok.text in ("line", "append_times") and toks[i + 1] == "(":
            given, _ = cpp.arguments(toks, i + 1)
            if not any(t.kind == "string" and t.text == name for a in given[:2] for t in a):
                continue
            for a in given:
                words = [t.text for t in a]
                found += [words[j + 2] for j, word in enumerate(words[:-2]) if word == "prometheus_label"]
                found += ["agent", "model"] if "labels_of" in words else []
    return list(dict.fromkeys(found))


def page(source):
    by_module = {}
    for name, (kind, text, its_labels, module) in families(source).items():
        by_module.setdefault(module, []).append(
            [markdown.code(name), kind, ", ".join(markdown.code(x) for x in its_labels), markdown.cell(text.rstrip("."))])
    out = [PROSE]
    for module in sorted(by_module):
        out.append(f"## {module}\n")
        out.append(markdown.table(["name", "type", "labels", "meaning"], by_module[module]))
    return "\n".join(out)
