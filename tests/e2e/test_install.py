"""`make install` puts every file where the system looks for it; the program works from there, and uninstalling removes
it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from server import BINARY, environment

ROOT = Path(__file__).resolve().parents[2]
FILES = ["bin/shepherd", "share/bash-completion/completions/shepherd", "share/zsh/site-functions/_shepherd",
         "share/fish/vendor_completions.d/shepherd.fish", "share/man/man1/shepherd.1", "share/systemd/user/shepherd.service",
         "lib/systemd/system/shepherd.service"]


def make(target, destination, prefix="/usr"):
    return subprocess.run(["make", "-C", ROOT, target, f"BINARY={BINARY}", f"DESTDIR={destination}", f"PREFIX={prefix}"],
                          capture_output=True, text=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    destination = tmp_path_factory.mktemp("installed")
    result = make("install", destination)
    assert result.returncode == 0, result.stderr
    return destination / "usr"


def test_everything_is_there_and_nothing_else(installed):
    assert sorted(str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file()) == sorted(FILES)
    assert (installed / "bin/shepherd").stat().st_mode & 0o777 == 0o755


def test_the_program_runs_from_there(installed, tmp_path):
    said = subprocess.run([installed / "bin/shepherd", "--version"], capture_output=True, text=True, env=environment(tmp_path))
    assert said.stdout.startswith("shepherd ")


def test_bash_completes_commands_and_choices(installed, tmp_path):
    script = installed / "share/bash-completion/completions/shepherd"
    ask = f"source {script}; COMP_WORDS=(shepherd {{}}); COMP_CWORD={{}}; _shepherd; echo ${{{{COMPREPLY[@]}}}}"
    env = {**environment(tmp_path), "PATH": f"{installed}/bin:/usr/bin:/bin"}

    def completed(*words):
        line = ask.format(" ".join(words[:-1]) + f" '{words[-1]}'", len(words))
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env).stdout.split()

    assert "watch" in completed("wa")
    assert completed("completion", "ba") == ["bash"]
    assert completed("run", "--mode", "inter") == ["interactive"]


@pytest.mark.parametrize("shell, file", [("zsh", FILES[2]), ("fish", FILES[3])])
def test_the_other_completions_are_scripts_of_their_shell(installed, shell, file):
    text = (installed / file).read_text()
    assert "completion tasks" in text and "tasks" in text and "steer" in text
    if shutil.which(shell):
        check = subprocess.run([shell, "-n", installed / file], capture_output=True, text=True)
        assert check.returncode == 0, check.stderr


def test_the_manual_page_has_every_command(installed):
    text = (installed / FILES[4]).read_text()
    assert text.startswith(".TH SHEPHERD 1")
    for words in (".SH NAME", ".SH SYNOPSIS", "shepherd run", "shepherd tasks create", "Exit codes", "SHEPHERD_DATA"):
        assert words in text, words
    if shutil.which("groff"):
        check = subprocess.run(["groff", "-man", "-Tutf8", "-ww", installed / FILES[4]], capture_output=True, text=True)
        assert check.returncode == 0 and check.stderr == "", check.stderr


def test_the_units_start_the_installed_program(installed):
    for file in FILES[5:]:
        text = (installed / file).read_text()
        assert "ExecStart=/usr/bin/shepherd serve\n" in text and "Type=notify\n" in text and "@" not in text
    if shutil.which("systemd-analyze"):
        copy = installed / FILES[5]
        check = subprocess.run(["systemd-analyze", "verify", "--user", copy], capture_output=True, text=True)
        assert "Unknown" not in check.stderr, check.stderr


def test_uninstall_leaves_nothing(tmp_path):
    assert make("install", tmp_path).returncode == 0
    assert make("uninstall", tmp_path).returncode == 0
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_without_a_build_it_says_what_to_do(tmp_path):
    result = subprocess.run(["make", "-C", ROOT, "install", f"BINARY={tmp_path}/none", f"DESTDIR={tmp_path}"], capture_output=True,
                            text=True)
    assert result.returncode != 0 and 'run "make build" first' in result.stderr
