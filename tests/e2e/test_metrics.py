"""/metrics is what Prometheus expects, and the numbers move."""

import re
import subprocess

from tasks import new_task, note, post_events


def scrape(api):
    answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def total(text, family):
    values = re.findall(rf"^{family}(?:\{{[^}}]*\}})? ([0-9.e+]+)$", text, re.MULTILINE)
    assert values, f"no {family} in\n{text[:3000]}"
    return sum(map(float, values))


def test_promtool_accepts_it(server, api, runner):
    task = new_task(api)
    post_events(runner, task, note("x"))
    with server.websocket(f"/api/v1/tasks/{task}/events") as feed:
        feed.events(1)
        text = scrape(api)
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_counters_count(api, runner, task):
    before = scrape(api)
    post_events(runner, task, *[note("x") for _ in range(25)])
    after = scrape(api)
    grown = [name for name in set(re.findall(r"^(shepherd_\w+_total)", after, re.MULTILINE))
             if re.search(rf"^{name}", before, re.MULTILINE) and total(after, name) - total(before, name) == 25]
    assert grown, "no counter grew by the 25 events"


def test_every_family_is_described(api):
    text = scrape(api)
    families = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    assert families and families == set(re.findall(r"^# HELP (\S+)", text, re.MULTILINE))
    assert all(name.startswith(("shepherd_", "process_")) for name in families)
