"""Real processes try to break out of the levels of `runners.confine`: an agent cannot reach the server."""

import ctypes
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agent_run import AgentRun
from agents import CLAUDE, claude_environment, needs_claude
from model_api import ModelAPI, Reply, text, tool
from server import BINARY, Server

CANARY = "canary-" + "b7c1e0aa52"  # in the server's environment; a process that prints it has read that
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# Inside, no namespace can be created, with privileges or as a user.
NO_NAMESPACES = ["unshare", "-U", "-r", "sh", "-c",
                 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all "$@"', "sh"]

# Makes the kernel refuse system calls as a container does (`without unshare` and the like). The first argument lists
# them.
REFUSING = r"""
import ctypes, os, platform, struct, sys
number = {"x86_64": {"unshare": 272}, "aarch64": {"unshare": 97}}[platform.machine()] | {"landlock_create_ruleset": 444}
refused = [number[name] for name in sys.argv[1].split(",")]
code = struct.pack("HBBI", 0x20, 0, 0, 0)  # the call's number
for i, call in enumerate(refused):
    code += struct.pack("HBBI", 0x15, len(refused) - i, 0, call)
code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000) + struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 1)  # allowed; EPERM
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(code) // 8, code)
if libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execvp(sys.argv[2], sys.argv[2:])
"""
def refusing(*calls):
    # An interpreter that every user can run.
    return [shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin") or sys.executable, "-c", REFUSING, ",".join(calls)]
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)  # its version
needs_landlock = pytest.mark.skipif(LANDLOCK < 6, reason=f"this kernel's Landlock is version {LANDLOCK}; 6 can express the level")

# What an agent would try. It prints what it got.
ATTACK = r"""
import ctypes, glob, json, os, stat, subprocess, sys
data, binary, server, outside = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
got = {}
def attempt(name, what):
    try:
        got[name] = what()
    except OSError:
        got[name] = None
def read(path):
    with open(path, "rb") as file:
        return file.read().decode(errors="replace")
libc = ctypes.CDLL(None)
# Ways around that only root has. What this one would uncover is looked at afterwards; unconfined there is nothing mounted there.
libc.umount2(data.encode(), 2)
attempt("kernel settings", lambda: open("/proc/sys/kernel/core_pattern", "r+").close() or "opened")
def raw_devices():
    os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(7, 0))
    return "made"
attempt("raw devices", raw_devices)
got["disks"] = [path for path in glob.glob("/dev/*") if stat.S_ISBLK(os.stat(path).st_mode) and os.access(path, os.R_OK)]
attempt("admin token", lambda: read(data + "/admin.token"))
attempt("database", lambda: len(read(data + "/shepherd.db")))
attempt("spool", lambda: os.listdir(data + "/spool"))
attempt("another tree", lambda: read(data + "/workspaces/other/tree/secret"))
attempt("server's environment", lambda: read(f"/proc/{server}/environ"))
attempt("server's memory", lambda: open(f"/proc/{server}/mem", "rb").close() or "opened")
attempt("a signal to the server", lambda: os.kill(server, 0) or "sent")
attempt("write outside", lambda: open(outside, "w").close() or "written")
attempt("write to /tmp", lambda: open("/tmp/" + os.environ["SHEPHERD_TASK_ID"], "w").close() or "written")
attempt("write here", lambda: open("here", "w").close() or "written")
environments = []
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        environments.append(read(path))
    except OSError:
        pass
got["tokens in environments"] = [text for text in environments if "canary-" in text]
said = subprocess.run([binary, "approve", os.environ["SHEPHERD_TASK_ID"], "req-1"], capture_output=True, text=True)
got["approve"] = {"code": said.returncode, "said": said.stderr}
got["processes"] = len(glob.glob("/proc/[0-9]*"))
print(json.dumps(got))
"""


class Place:
    """A directory that the given user owns, with a server in it; neither depends on the test's own user."""

    def __init__(self, prefix, data="data", **options):
        self.root = Path(tempfile.mkdtemp(prefix="shepherd-confine-"))
        self.prefix = prefix
        for name in ("work", "home"):
            (self.root / name).mkdir()
        self.server = Server(self.root / data, command_prefix=prefix, env={"SHEPHERD_TOKEN": CANARY}, **options)
        (self.server.data / "workspaces/other/tree").mkdir(parents=True)
        (self.server.data / "workspaces/other/tree/secret").write_text("of another task")
        (self.server.data / "spool").mkdir()
        (self.root / "work/attack.py").write_text(ATTACK)
        if prefix == NOBODY:
            subprocess.run(["chown", "-R", "65534:65534", self.root], check=True)
        self.server.start()

    def run(self, *arguments, prefix=None, cwd=None, token=None, env=None):
        """Runs `shepherd run`; returns its exit code, its events and the task."""
        env = {k: v for k, v in self.server.env.items() if k != "SHEPHERD_TOKEN"} | (env or {})
        env |= {"SHEPHERD_DATA": str(self.server.data), "HOME": str(self.root / "home")}
        if token:
            env |= {"SHEPHERD_TOKEN": token, "SHEPHERD_URL": self.server.public}
        ran = subprocess.run([*(self.prefix if prefix is None else prefix), BINARY, "run", "--json", *map(str, arguments)],
                             cwd=cwd or self.root / "work", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=120)
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        assert lines, ran.stderr
        with self.server.api() as api:
            task = api.get(f"/api/v1/tasks/{lines[0]['taskID']}").json()
        return ran.returncode, lines[1:], task

    def attack(self, *arguments, prefix=None, cwd=None):
        code, events, task = self.run(*arguments, "--", "python3", self.root / "work/attack.py", self.server.data, BINARY,
                                      self.server.process.pid, self.root / "home/outside", prefix=prefix, cwd=cwd)
        printed = "".join(event["data"]["text"] for event in events if event["type"] == "output")
        assert code == 0, events
        return json.loads(printed), task

    def end(self):
        self.server.kill()
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture(params=["as this user", "as another"])
def place(request):
    """Runs each test as the current user and as a user without privileges."""
    prefix = []
    if request.param == "as another":
        if os.geteuid() != 0:
            pytest.skip("only root can be somebody else")
        if subprocess.run([*NOBODY, "test", "-x", BINARY], check=False).returncode != 0:
            pytest.skip("the program lies where another user cannot run it")
        prefix = NOBODY
    made = []

    def make(*args, **options):
        made.append(Place(prefix, *args, **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


def refused(got):
    """Asserts that nothing of the server was within reach."""
    for name in ("admin token", "database", "spool", "another tree", "server's environment", "server's memory",
                 "a signal to the server", "kernel settings", "raw devices"):
        assert got[name] is None, (name, got)
    assert got["tokens in environments"] == [] and got["disks"] == []
    assert got["approve"]["code"] != 0


def test_by_default_nothing_of_the_tower_is_there(place):
    got, task = place().attack()
    refused(got)
    assert task["confined"] == "secrets"
    assert got["write here"] == got["write outside"] == "written"
    assert got["processes"] < 10


@pytest.mark.parametrize("data", ["home/.local/share/shepherd", "work/data"])
def test_wherever_the_data_directory_lies(place, data):
    got, task = place(data).attack()
    refused(got)
    assert task["confined"] == "secrets" and got["write here"] == "written"


def test_at_level_workspace_only_its_place_is_writable(place):
    desk = place()
    got, task = desk.attack("--confine", "workspace")
    refused(got)
    assert task["confined"] == "workspace"
    assert got["write outside"] is None
    assert got["write here"] == "written" and (desk.root / "work/here").exists()
    assert got["write to /tmp"] == "written" and not Path("/tmp", task["id"]).exists(), "a temporary directory of its own"
    # All of those are in /tmp, which is the agent's own anyway.
    with tempfile.TemporaryDirectory(dir=Path(BINARY).parent) as elsewhere:
        os.chmod(elsewhere, 0o777)
        for level, written in (("workspace", False), ("secrets", True)):
            code, events, _ = desk.run("--confine", level, "--", "sh", "-c", f"echo x > {elsewhere}/file")
            assert (code == 0, Path(elsewhere, "file").exists()) == (written, written), events


def test_without_confinement_the_token_is_in_no_environment_and_the_command_line_refuses(place):
    """Also proves that the other tests can fail: here the admin token is within reach."""
    desk = place()
    got, task = desk.attack("--confine", "none")
    assert task["confined"] == "none"
    assert got["admin token"].startswith("[redacted:token:"), "it could read it, though the log does not have it"
    assert got["another tree"] == "of another task"
    assert got["tokens in environments"] == []
    if desk.prefix:
        assert got["server's environment"] is None and got["server's memory"] is None
    said = got["approve"]
    assert said["code"] == 4 and "SHEPHERD_TASK_ID" in said["said"] and "SHEPHERD_TOKEN" in said["said"], said


def test_a_work_tree_in_the_data_directory(place):
    """The tree is the agent's own, with its repository elsewhere; its neighbour's tree is not there."""
    desk = place()
    git = [*desk.prefix, "git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=desk.root / "work", check=True, env={**os.environ, "HOME": str(desk.root / "home")})
    script = ("set -e; echo new > file; git add file; git -c user.name=t -c user.email=t@example.org commit -qm second; "
              'test "$(ls $SHEPHERD_DATA/workspaces)" = $SHEPHERD_TASK_ID; cat $SHEPHERD_RULES')
    (desk.root / "rules.md").write_text("read me\n")
    for level in ("secrets", "workspace"):
        code, events, task = desk.run("--worktree", "--confine", level, "--rules", desk.root / "rules.md", "--", "sh", "-c", script)
        assert code == 0 and task["confined"] == level, events
        result = [event for event in events if event["type"] == "result"][-1]
        assert result["data"]["files"] == ["file"] and len(result["data"]["commits"]) == 1, result
        assert "read me" in json.dumps(events)


def logs(events):
    return "\n".join(event["summary"] for event in events if event["type"] == "log")


@needs_landlock
@pytest.mark.parametrize("data", ["data", "home/.local/share/shepherd"])
def test_where_there_are_no_namespaces_landlock_does_it(place, data):
    desk = place(data)
    for forbidden in ([*desk.prefix, *refusing("unshare")], None if desk.prefix else NO_NAMESPACES):
        if forbidden is None:
            continue
        got, task = desk.attack("--confine", "secrets", prefix=forbidden)
        refused(got)
        assert task["confined"] == "secrets" and got["write here"] == "written"
        # Files beside the data directory can be used, but nothing new can be created there.
        assert got["write outside"] == ("written" if data == "data" else None)
    code, events, task = desk.run("--", "true", prefix=[*desk.prefix, *refusing("unshare")])
    assert code == 0 and task["confined"] == "secrets" and "confined by Landlock" in logs(events), events


@needs_landlock
def test_a_work_tree_in_the_data_directory_by_landlock(place):
    desk = place()
    git = [*desk.prefix, "git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=desk.root / "work", check=True, env={**os.environ, "HOME": str(desk.root / "home")})
    script = ("set -e; echo new > file; git add file; git -c user.name=t -c user.email=t@example.org commit -qm second; "
              "! cat $SHEPHERD_DATA/workspaces/other/tree/secret; ! ls $SHEPHERD_DATA; cat $SHEPHERD_RULES")
    (desk.root / "rules.md").write_text("read me\n")
    code, events, task = desk.run("--worktree", "--rules", desk.root / "rules.md", "--", "sh", "-c", script,
                                  prefix=[*desk.prefix, *refusing("unshare")])
    assert code == 0 and task["confined"] == "secrets", events
    result = [event for event in events if event["type"] == "result"][-1]
    assert result["data"]["files"] == ["file"] and len(result["data"]["commits"]) == 1, result
    assert "read me" in json.dumps(events) and "of another task" not in json.dumps(events)


@needs_landlock
def test_what_landlock_cannot_express_it_does_not_promise(place):
    """The agent works in the data directory's place; a service starts programs on request; a directory is private."""
    forbidden = refusing("unshare")
    desk = place("work/data")
    code, events, task = desk.run("--", "true", prefix=[*desk.prefix, *forbidden])
    assert code == 0 and task["confined"] == "none" and "in the place where the agent works" in logs(events), events
    desk = place()
    runtime = desk.root / "runtime"
    runtime.mkdir()
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(str(runtime / "bus"))
        code, events, task = desk.run("--", "true", prefix=[*desk.prefix, *forbidden], env={"XDG_RUNTIME_DIR": str(runtime)})
    assert code == 0 and task["confined"] == "none" and f"the socket {runtime}/bus" in logs(events), events
    code, events, task = desk.run("--confine", "workspace", "--", "touch", "ran", prefix=[*desk.prefix, *forbidden])
    assert code == 7 and "confined" not in task and not (desk.root / "work/ran").exists(), events


def test_a_level_that_cannot_hold(place):
    """The default gives way with a message; a level that was requested explicitly does not."""
    desk = place()
    if desk.prefix:
        pytest.skip("once is enough")
    nothing = [*NO_NAMESPACES, *refusing("landlock_create_ruleset")]
    code, events, task = desk.run("--", "true", prefix=nothing)
    assert code == 0 and task["confined"] == "none"
    assert "unconfined" in logs(events), events
    for level in ("secrets", "workspace"):
        code, events, task = desk.run("--confine", level, "--", "touch", "ran", prefix=nothing)
        assert code == 7 and task["status"]["state"] == "failed" and "confined" not in task
        assert "cannot confine" in task["status"]["message"], task["status"]
    assert not (desk.root / "work/ran").exists()


def test_doctor_says_what_agents_are_kept_from(place):
    desk = place()
    def finding(prefix, *arguments):
        said = subprocess.run([*prefix, BINARY, "doctor", "--json", "--data", desk.server.data, *arguments],
                              env=desk.server.env, capture_output=True, text=True, timeout=120)
        return next(found for found in map(json.loads, said.stdout.splitlines()) if found["subject"] == "confinement")
    found = finding(desk.prefix)
    assert found["level"] == "ok" and "by namespaces" in found["text"], found
    assert finding(desk.prefix, "--set", "runners.confine=none")["level"] == "warn"
    if not desk.prefix:
        nothing = [*NO_NAMESPACES, *refusing("landlock_create_ruleset")]
        assert finding(nothing)["level"] == "warn"
        assert finding(nothing, "--set", "runners.confine=secrets")["level"] == "fail"
    if LANDLOCK >= 6:
        found = finding([*desk.prefix, *refusing("unshare")])
        assert found["level"] == "ok" and "by Landlock" in found["text"], found


@needs_claude
@pytest.mark.parametrize("level", ["none", "secrets", "workspace", pytest.param("landlock", marks=needs_landlock)])
def test_real_claude_works_unharmed(request, tmp_path, level):
    by_landlock = level == "landlock"
    root = tmp_path
    if by_landlock:
        level = "secrets"
        root = Path(tempfile.mkdtemp(prefix="shepherd-confine-", dir="/var/tmp"))  # not /tmp, which the agent needs
        request.addfinalizer(lambda: shutil.rmtree(root, ignore_errors=True))
    home, work = root / "home", root / "work"
    home.mkdir()
    work.mkdir()
    # As in most installations, nothing new can be created in its home.
    server = Server(home / ".local/share/shepherd").start()
    if by_landlock:
        server.binary = root / "confined"
        server.binary.write_text(f"#!/bin/sh\nexec {shlex.join([*refusing('unshare'), BINARY])} \"$@\"\n")
        server.binary.chmod(0o755)
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=work, check=True)
    (work / "add.py").write_text("def add(a, b):\n    return a - b\n")
    path = str(work / "add.py")
    commit = "git add add.py && git -c user.name=t -c user.email=t@example.org commit -qm fixed && git log --oneline"
    model = ModelAPI([Reply(text("Reading it."), tool("Read", file_path=path)),
                      Reply(tool("Edit", file_path=path, old_string="a - b", new_string="a + b")),
                      Reply(tool("Bash", command=commit, description="Commits")), Reply(text("Fixed."))]).start()
    try:
        with AgentRun(server, ["fix it", "--agent", "claude", "--program", CLAUDE, "--mode", "interactive", "--confine", level],
                      work, claude_environment(home, model.url)) as run:
            for _ in range(2):  # the edit and the commit
                asked = run.until_type("approval")
                run.until_state("waiting_for_input")
                assert run.command("approve", approvalID=asked["data"]["approvalID"])["state"] == "acknowledged", run.story()
            task, code = run.to_end(120)
    finally:
        model.stop()
        server.kill()
    assert code == 0 and task["confined"] == level, run.story()
    assert (work / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert all(event["output"]["success"] for event in run.of_type("tool_result")), run.story()
    assert len(run.of_type("log")) == (1 if by_landlock else 0), run.story()
    assert list((home / ".claude" / "projects").rglob("*.jsonl")), "its own record of the session is kept"
