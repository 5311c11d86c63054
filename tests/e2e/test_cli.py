"""The command line for people and scripts."""

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from server import BINARY, environment
from tasks import end_task, new_id, new_task, note, post_events
from terminal import Terminal
from test_crash import free_port

OK, FAILED, USAGE, UNREACHABLE, REFUSED, NOT_FOUND, CONFLICT, TASK_FAILED = range(8)


def run(*args, env=None, **options):
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, timeout=30, env=env, **options)


@pytest.fixture
def alone(tmp_path):
    """An environment without a server."""
    return environment(tmp_path)


def subcommands(env, *prefix):
    """The subcommands that the help of a command lists, by CLI11's layout: two spaces, a name, its help."""
    text = run(*prefix, "--help", env=env).stdout
    names, inside = [], False
    for line in text.splitlines():
        if re.match(r"^\S.*:\s*$", line):
            inside = not re.match(r"(Options|Positionals|Environment|Exit codes|Start here|Examples?|Connection|Usage)", line)
        elif inside and (match := re.match(r"^  ([a-z][a-z-]*)(\s{2,}\S|\s*$)", line)):
            names.append(match.group(1))
    return names


# --- help ---

def test_every_command_explains_itself(alone):
    commands = subcommands(alone)
    assert {"serve", "tasks", "watch", "post", "search", "token", "export", "import", "backup", "doctor", "config",
            "completion"} <= set(commands), commands
    for name in commands:
        result = run(name, "--help", env=alone)
        assert result.returncode == OK and result.stderr == ""
        assert "Example" in result.stdout, f"{name} --help shows no example"
        assert f"shepherd {name}" in result.stdout
        for sub in subcommands(alone, name):
            below = run(name, sub, "--help", env=alone)
            assert below.returncode == OK and "Example" in below.stdout, f"{name} {sub} --help shows no example"


def test_help_documents_exit_codes_and_variables(alone):
    text = run("--help", env=alone).stdout
    for word in ("Exit codes", "SHEPHERD_URL", "SHEPHERD_TOKEN", "SHEPHERD_DATA"):
        assert word in text


def test_version(alone):
    assert re.match(r"shepherd \d+\.\d+\.\d+", run("--version", env=alone).stdout)


@pytest.mark.parametrize("args,says", [(["wach"], 'did you mean "watch"?'), (["watch", "--no-such-flag"], "--no-such-flag"), (["tasks", "--state", "wonderful"], "wonderful"),
                                       ([], "Usage: shepherd")], ids=str)
def test_wrong_usage(alone, args, says):
    result = run(*args, env=alone)
    assert result.returncode == USAGE
    assert result.stdout == "" and says in result.stderr


def test_a_near_miss_is_suggested(alone):
    assert "watch" in run("wach", env=alone).stderr


# --- exit codes ---

def test_exit_codes(server, api, runner):
    nobody = {"SHEPHERD_URL": "http://127.0.0.1:1", "SHEPHERD_TOKEN": "shp_x"}
    assert server.cli("tasks", check=False, env=nobody).returncode == UNREACHABLE
    assert server.cli("tasks", check=False, token="shp_wrong").returncode == REFUSED
    assert server.cli("tasks", "show", "nobody", check=False).returncode == NOT_FOUND
    task = new_id("cli")
    assert server.cli("tasks", "create", "--id", task, "one").returncode == OK
    assert server.cli("tasks", "create", "--id", task, "other", check=False).returncode == CONFLICT
    end_task(runner, task, "failed")
    assert server.cli("watch", task, check=False).returncode == TASK_FAILED
    assert server.cli("post", task, "too late", check=False).returncode == OK, "kept, and marked as late"


def test_the_server_on_this_machine_is_found(server):
    """Without address or token, server.json and admin.token in the data directory are enough."""
    env = {k: v for k, v in server.env.items()}
    result = run("tasks", "--json", "--data", server.data, env=env)
    assert result.returncode == OK, result.stderr


# --- the walk of the help's "start here" ---

def test_create_post_watch(server):
    task = server.cli("tasks", "create", "Fix the login bug", "--label", "team=web").stdout.strip()
    server.cli("post", task, "hello", "--type", "log")
    server.cli("post", task, "--lines", input="one\ntwo\n")
    server.cli("post", task, "--state", "completed", "all done")
    shown = server.cli("watch", task)
    for word in ("hello", "one", "two"):
        assert word in shown.stdout
    assert "\x1b" not in shown.stdout, "no colour when piped"
    events = [json.loads(line) for line in server.cli("watch", task, "--json").stdout.splitlines()]
    assert [e["sequence"] for e in events if "sequence" in e] == [1, 2, 3, 4]
    listed = [json.loads(line) for line in server.cli("tasks", "--json", "--label", "team=web").stdout.splitlines()]
    assert task in [t["id"] for t in listed]
    assert json.loads(server.cli("tasks", "show", task, "--json").stdout)["status"]["phase"] == "Succeeded"


def test_a_state_that_no_task_has_is_refused(server, task):
    refused = server.cli("post", task, "--state", "bogus", "x", check=False)
    assert refused.returncode == USAGE and "waiting_for_input" in refused.stderr


def test_a_second_run_with_the_same_id_says_that_the_task_exists(server):
    name = new_id("dup")
    assert server.cli("run", "--id", name, "--", "true").returncode == 0
    again = server.cli("run", "--id", name, "--", "true", check=False)
    assert again.returncode == 6 and f"the task {name} exists already" in again.stderr


def test_hostile_text_is_harmless_in_a_terminal(server, api, runner, task):
    post_events(runner, task, note("\x1b]0;owned\x07\x1b[2J\u202eevil\r\nforged line"))
    end_task(runner, task)
    text = server.cli("watch", task).stdout
    assert not any(c in text for c in ("\x1b", "\x07", "\u202e", "\r"))


def test_search(server, api, runner, task):
    word = "needle" + new_id("x").replace("-", "")
    post_events(runner, task, note(f"a {word} here"))
    deadline = time.monotonic() + 15
    while word not in (out := server.cli("search", word).stdout) and time.monotonic() < deadline:
        pass  # the index lags behind the log
    assert word in out and task in out


def test_watch_across_a_restart(make_server):
    server = make_server(listen=f"127.0.0.1:{free_port()}", internal=f"127.0.0.1:{free_port()}").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("before"))
    env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token}
    watcher = subprocess.Popen([BINARY, "watch", task, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=env)
    try:
        assert json.loads(watcher.stdout.readline())["summary"] == "before"
        server.kill()
        server.start()
        with server.runner() as runner:
            post_events(runner, task, note("after"))
            end_task(runner, task)
        out, _ = watcher.communicate(timeout=30)
    finally:
        watcher.kill()
    assert watcher.returncode == OK
    assert [json.loads(line)["sequence"] for line in out.splitlines() if "sequence" in json.loads(line)] == [2, 3]


def test_watch_ends_on_interrupt(server, task):
    watcher = subprocess.Popen([BINARY, "watch", task], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token})
    try:
        with server.runner() as runner:
            post_events(runner, task, note("seen"))
        assert "seen" in watcher.stdout.readline()
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(10) == -signal.SIGINT
    finally:
        watcher.kill()


# --- keeping ---

def export_of(server, task):
    return [json.loads(line) for line in server.cli("export", task).stdout.strip().split("\n")]


def test_export_and_import_round_trip(server, make_server, tmp_path):
    with server.api() as api, server.runner() as runner:
        task = new_task(api, labels={"a": "b"})
        post_events(runner, task, note("eins \u2028 zwei"), {"type": "tool_call", "tool": "Bash", "summary": "long",
                                                            "input": {"command": "y" * 3000}}, note("drei"))
        end_task(runner, task, message="done")
    file = tmp_path / "out.ndjson"
    file.write_text(server.cli("export", task).stdout)
    other = make_server(name="other").start()
    other.cli("import", "--from", "ndjson", file)
    first, second = export_of(server, task), export_of(other, task)
    keep = ("type", "summary", "timestamp", "tool", "input", "data")
    events = lambda rows: [{k: r.get(k) for k in keep} for r in rows if "sequence" in r]
    assert events(first) and events(first) == events(second)
    with other.api() as api:
        assert api.get(f"/api/v1/tasks/{task}").json()["status"]["phase"] == "Succeeded"
    other.cli("import", "--from", "ndjson", file, check=False)
    assert events(export_of(other, task)) == events(first), "importing again adds nothing"


def test_import_makes_nobody_work(server, make_server, tmp_path):
    """Once an imported queued task was claimed and ran again, and an imported approval waited for an answer."""
    with server.api() as api, server.runner() as runner:
        queued = new_task(api, agent="no-runner-has-it", timeout="1s")
        asking = new_task(api)
        post_events(runner, asking, {"type": "approval", "summary": "may I?",
                                     "data": {"approvalID": "a1", "state": "pending", "tool": "Bash"}})
    file = tmp_path / "out.ndjson"
    file.write_text("".join(server.cli("export", task).stdout for task in (queued, asking)))
    other = make_server(name="other").start()
    for _ in range(2):
        assert other.cli("import", file).returncode == 0
    with other.api() as api:
        for task, agent in ((queued, "no-runner-has-it"), (asking, "external")):
            got = api.get(f"/api/v1/tasks/{task}").json()
            assert got["status"]["state"] == "cancelled" and not got.get("agent"), got
            assert got["labels"]["imported"] == agent
            assert "had not ended" in got["status"]["message"]
        assert api.get(f"/api/v1/tasks/{queued}").json()["lastSequence"] == 1, "the second import adds nothing"
        assert not api.get("/api/v1/inbox").json()["items"]
    # On their own server both still wait as before.
    assert server.cli("import", file).returncode == 0
    with server.api() as api:
        assert api.get(f"/api/v1/tasks/{queued}").json()["status"]["state"] == "queued"
        assert api.get(f"/api/v1/tasks/{asking}").json()["status"]["state"] != "cancelled"


def test_backup_can_be_served(server, make_server, tmp_path, task):
    with server.runner() as runner:
        post_events(runner, task, note("kept"))
    target = tmp_path / "backup"
    server.cli("backup", target)
    secret = tmp_path / "backup.callback.secret"
    assert secret.read_bytes() == (server.data / "callback.secret").read_bytes(), "receivers know this one"
    assert secret.stat().st_mode & 0o777 == 0o600
    copy = make_server(name="restored")
    (copy.data / "shepherd.db").write_bytes(target.read_bytes())
    copy.start()
    with copy.api() as api:
        assert "kept" in api.get(f"/api/v1/tasks/{task}/events").text


def test_doctor(server):
    result = server.cli("doctor", check=False)
    assert result.returncode == OK, result.stdout + result.stderr


# How a line of the script offers one command, in each shell's syntax.
OFFERS = {"bash": r"\b{0}\b", "zsh": r"^ +'{0}:", "fish": r"^complete -c shepherd -n '__shepherd_start' -a {0} "}


@pytest.mark.parametrize("shell", sorted(OFFERS))
def test_completion_has_every_command(alone, shell):
    result = run("completion", shell, env=alone)
    assert result.returncode == OK and result.stderr == ""
    commands = subcommands(alone)
    assert len(commands) > 20
    for name in commands:
        assert re.search(OFFERS[shell].format(name), result.stdout, re.MULTILINE), f"{shell} is not told of {name}"


def shell_or_skip(name):
    """If the shell is installed, uses its completions as a person would."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"optional: {name} is not installed")
    return found


def test_fish_completes(alone, tmp_path):
    script = tmp_path / "completion.fish"
    script.write_text(run("completion", "fish", env=alone).stdout)

    def offered(line):
        done = subprocess.run([shell_or_skip("fish"), "--no-config", "-c", f"source '{script}'; complete -C '{line}'"], cwd=tmp_path,
                              env=alone, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == "", done.stderr[:500]
        return [each.split("\t")[0] for each in done.stdout.splitlines()]

    assert offered("shepherd tok") == ["token"]
    assert sorted(offered("shepherd token ")) == ["create", "list", "login-link", "revoke"]
    assert offered("shepherd completion f") == ["fish"]
    assert offered("shepherd tasks --state fai") == ["failed"]
    assert offered("shepherd serve --listen ") == []


def test_zsh_completes(alone, tmp_path):
    """Its completions only work on a typed line."""
    script = tmp_path / "completion.zsh"
    script.write_text(run("completion", "zsh", env=alone).stdout)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "shepherd").symlink_to(Path(BINARY).resolve())
    screen = Terminal(["-f", "-i"], {**alone, "PS1": "> ", "PATH": f"{binaries}:{alone['PATH']}"}, program=shell_or_skip("zsh"))
    try:
        screen.press(f"autoload -Uz compinit; compinit -D -u; source '{script}'; print all'' set\n")
        screen.wait_for("all set")
        for typed, line in (("shepherd tok\t", "shepherd token"), ("shepherd completion f\t", "shepherd completion fish"),
                            ("shepherd tasks --state fai\t", "shepherd tasks --state failed"), ("shepherd serve --confin\t", "shepherd serve --confine")):
            screen.press(typed)
            screen.wait_for(lambda text, line=line: text.splitlines()[screen.screen.cursor.y] == f"> {line}")
            screen.press("\x15")  # clears the line
    finally:
        screen.kill()


def completed(alone, tmp_path, *words):
    """What bash offers for the last word, in a directory with one file, which shows up when bash falls back to files."""
    script = tmp_path / "completion.bash"
    script.write_text(run("completion", "bash", env=alone).stdout)
    place = tmp_path / "place"
    place.mkdir(exist_ok=True)
    (place / "a-file").touch()
    typed = " ".join(f"'{word}'" for word in words)
    asked = (f"compopt() {{ [[ $* = '+o default' ]] && falls_back=; }}; source '{script}'; complete -p shepherd | grep -q 'o default' && falls_back=1; "
             f"COMP_WORDS=(shepherd {typed}); COMP_CWORD={len(words)}; _shepherd; "
             '[[ ${#COMPREPLY[@]} = 0 && $falls_back ]] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); echo "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", asked], cwd=place, env=alone, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_files_are_offered_where_a_file_is_meant(alone, tmp_path):
    for words in (["serve", "--config", ""], ["run", "-C", ""], ["run", "--tasks", "a"], ["serve", "--tls-key", ""]):
        assert completed(alone, tmp_path, *words) == ["a-file"], words
    for words in (["serve", "--listen", ""], ["run", "--budget", ""], ["tasks", "--limit", ""], ["inbox", "--dismiss", "a"], ["run", "--resume", ""]):
        assert completed(alone, tmp_path, *words) == [], words
    assert completed(alone, tmp_path, "completion", "f") == ["fish"]
    assert completed(alone, tmp_path, "tasks", "--state", "f") == ["failed"]


def test_token_commands(server):
    made = server.cli("token", "create", "ci-bot", "--scope", "viewer").stdout
    secret = re.search(r"shp_[\w-]+", made).group(0)
    assert "ci-bot" in server.cli("token", "list").stdout
    assert secret not in server.cli("token", "list").stdout
    assert server.cli("tasks", token=secret).returncode == OK
    assert server.cli("tasks", "create", "x", token=secret, check=False).returncode == REFUSED
    listed = server.cli("token", "list", "--json").stdout
    (row,) = [t for t in rows(listed) if t["name"] == "ci-bot"]
    server.cli("token", "revoke", row["id"])
    assert server.cli("tasks", token=secret, check=False).returncode == REFUSED


def rows(text):
    values = [json.loads(line) for line in text.splitlines()]
    if len(values) == 1:
        value = values[0]
        return value if isinstance(value, list) else value.get("tokens", [value])
    return values


def test_config_shows_where_values_come_from(alone, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("retention:\n  days: 7\n")
    result = run("config", "--config", file, "--set", "log.level=warn",
                 env={**alone, "SHEPHERD_PUBLIC_LISTEN": "127.0.0.1:9999"})
    assert result.returncode == OK
    for words in (("days: 7", "c.yaml"), ("127.0.0.1:9999", "SHEPHERD_PUBLIC_LISTEN"), ("warn", "flag")):
        assert any(all(w in line for w in words) for line in result.stdout.splitlines()), words
    again = tmp_path / "again.yaml"
    again.write_text(result.stdout)
    assert run("config", "--config", again, env=alone).returncode == OK, "its output is a configuration file"


def test_output_to_a_closed_pipe(server, api, runner, task):
    post_events(runner, task, *[note("x" * 400) for _ in range(3000)])
    end_task(runner, task)
    watcher = subprocess.Popen([BINARY, "watch", task, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token})
    watcher.stdout.readline()
    watcher.stdout.close()
    assert watcher.wait(20) == OK, "a reader that went away is no error"
    assert watcher.stderr.read() == b""


def test_an_agent_gets_nothing_of_our_own_libraries(server):
    told = server.cli("run", "--json", "--", "env").stdout
    assert "PATH=" in told and "GRPC_VERBOSITY" not in told
