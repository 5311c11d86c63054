"""Agents of the C++ library behind TLS, client certificates and tokens. `shepherd agent test` and `shepherd run`
connect with the right credentials and explain what is wrong with others. The test creates every certificate and
authority."""

import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import grpc
import pytest
import yaml

from agent_run import AgentRun
from server import BINARY, environment

NOTES_AGENT = os.environ.get("NOTES_AGENT_BIN", "")
TOKEN = "only-for-those-who-know"


def openssl(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)


def authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


def certificate(folder, name, signer, alternative):
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
    (folder / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{signer}.pem", "-CAkey", f"{signer}.key", "-CAcreateserial",
            "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    authority(folder, "ours")
    authority(folder, "theirs")
    certificate(folder, "agent", "ours", "DNS:agent.test")
    certificate(folder, "operator", "ours", "DNS:operator.test")
    certificate(folder, "stranger", "theirs", "DNS:operator.test")
    return folder


def free_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % taken.getsockname()[1]


class Agent:
    """The example agent with settings from the environment, until the end of the block."""

    def __init__(self, log, **settings):
        self.address, self.log = free_address(), log
        with open(log, "w") as out:
            self.process = subprocess.Popen([NOTES_AGENT, self.address], stderr=out,
                                            env={**os.environ, **{name: str(value) for name, value in settings.items()}})

    def lines(self):
        return [json.loads(line) for line in Path(self.log).read_text().splitlines() if line.startswith("{")]

    def __enter__(self):
        deadline = time.monotonic() + 30
        while not any("listening" in line["message"] for line in self.lines()):
            assert self.process.poll() is None and time.monotonic() < deadline, Path(self.log).read_text()
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(30) == 0


@pytest.fixture
def guarded(papers, tmp_path):
    """TLS, client certificates and a token."""
    with Agent(tmp_path / "agent.log", NOTES_CERT=papers / "agent.pem", NOTES_KEY=papers / "agent.key",
               NOTES_CLIENT_CA=papers / "ours.pem", NOTES_TOKEN=TOKEN) as agent:
        yield agent


def agent_test(home, *args):
    return subprocess.run([BINARY, "agent", "test", "--timeout", "2", *map(str, args)], capture_output=True, text=True, timeout=120,
                          env=environment(home))


def test_the_harness_gets_in_with_the_right_papers(guarded, papers, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    right = ["--stream", guarded.address, "--server-name", "agent.test", "--ca-file", papers / "ours.pem", "--cert-file",
             papers / "operator.pem", "--key-file", papers / "operator.key", "--token-file", token]
    result = agent_test(tmp_path, "--json", *right)
    assert result.returncode == 0, result.stdout + result.stderr
    verdicts = {check["check"]: check["verdict"] for check in json.loads(result.stdout)["checks"]}
    assert set(verdicts.values()) - {"passed"} == {"skipped"} and verdicts["shutdown"] == "skipped"

    # The same by its name; the configuration has all settings.
    config = tmp_path / "shepherd.yaml"
    config.write_text(yaml.safe_dump({"agents": {"auditor": {
        "address": guarded.address, "token_file": str(token),
        "tls": {"ca": str(papers / "ours.pem"), "cert": str(papers / "operator.pem"), "key": str(papers / "operator.key"),
                "server_name": "agent.test"}}}}))
    by_name = agent_test(tmp_path, "--config", config, "--stream", "auditor")
    assert by_name.returncode == 0, by_name.stdout + by_name.stderr


def test_the_harness_says_which_paper_is_wrong(guarded, papers, tmp_path):
    def said(code, ca="ours", name="agent.test", cert="operator", token=TOKEN, more=()):
        args = ["--stream", guarded.address, "--token", token, *more]
        args += ["--ca-file", papers / f"{ca}.pem"] if ca else []
        args += ["--server-name", name] if name else []
        args += ["--cert-file", papers / f"{cert}.pem", "--key-file", papers / f"{cert}.key"] if cert else []
        result = agent_test(tmp_path, *args)
        assert result.returncode == code, result.stdout + result.stderr
        return result.stderr

    distrusted = said(3, ca="theirs")
    assert "certificate verify failed" in distrusted.lower() and "--ca-file" in distrusted
    for misnamed in (said(3, name="another.test"), said(3, name="")):
        assert "not in peer certificate" in misnamed and "--server-name" in misnamed
    missing = said(3, cert="")
    assert "no agent answers" in missing and "wants a client certificate" in missing and "--cert-file" in missing
    assert "does not accept our client certificate" in said(3, cert="stranger")
    for wrong in (said(4, token="guess"), said(4, token="")):
        assert "UNAUTHENTICATED" in wrong and "--token-file" in wrong and TOKEN not in wrong
    plain = agent_test(tmp_path, "--stream", guarded.address, "--token", TOKEN)
    assert plain.returncode == 3 and "does it want TLS" in plain.stderr
    half = agent_test(tmp_path, "--stream", guarded.address, "--cert-file", papers / "operator.pem")
    assert half.returncode == 2 and "--key-file" in half.stderr
    gone = agent_test(tmp_path, "--stream", guarded.address, "--ca-file", tmp_path / "nowhere.pem")
    assert gone.returncode == 2 and "nowhere.pem" in gone.stderr


def test_tls_towards_an_agent_without(papers, tmp_path):
    with Agent(tmp_path / "agent.log") as agent:
        result = agent_test(tmp_path, "--stream", agent.address, "--ca-file", papers / "ours.pem")
        assert result.returncode == 3 and "no agent answers" in result.stderr and "does not speak TLS" in result.stderr


def test_the_driver_gets_in_and_says_which_paper_is_wrong(server, guarded, papers, tmp_path):
    token, config = tmp_path / "token", tmp_path / "config.yaml"
    token.write_text(TOKEN + "\n")
    right = {"ca": str(papers / "ours.pem"), "cert": str(papers / "operator.pem"), "key": str(papers / "operator.key"),
             "server_name": "agent.test"}

    def outcome(**changes):
        tls = {**right, **changes}
        entry = {"address": guarded.address, "token_file": str(token), "connect_ms": 1500,
                 "tls": {name: value for name, value in tls.items() if value}}
        config.write_text(yaml.safe_dump({"agents": {"auditor": entry}}))
        with AgentRun(server, ["--config", config, "--agent", "auditor", "--mode", "autonomous", "audit"], tmp_path, server.env) as run:
            task, code = run.to_end()
            errors = [event for event in run.of_type("error") if event["data"].get("fatal")]
            assert TOKEN not in json.dumps(run.events)
            return task["status"]["state"], code, errors[-1] if errors else None

    assert outcome() == ("completed", 0, None)

    def failure(**changes):
        state, code, error = outcome(**changes)
        assert (state, code) == ("failed", 7)
        return error["data"]["code"], error["summary"]

    code, why = failure(ca=str(papers / "theirs.pem"))
    assert code == "agent_unreachable" and "certificate verify failed" in why.lower()
    code, why = failure(server_name="another.test")
    assert code == "agent_unreachable" and "not in peer certificate" in why
    code, why = failure(cert="", key="")
    assert code == "agent_unreachable" and "wants a client certificate" in why and "tls.cert and tls.key" in why
    token.write_text("a-wrong-one\n")
    code, why = failure()
    assert code == "credentials_refused" and "token_file" in why and "a-wrong-one" not in why


def test_a_key_of_another_certificate_is_said(papers, tmp_path):
    result = subprocess.run([NOTES_AGENT, "127.0.0.1:0"], capture_output=True, text=True, timeout=60,
                            env={**os.environ, "NOTES_CERT": str(papers / "agent.pem"), "NOTES_KEY": str(papers / "operator.key")})
    assert result.returncode == 1 and "belong together" in result.stderr


def test_prometheus_can_scrape_an_agent(papers, tmp_path):
    with Agent(tmp_path / "agent.log", NOTES_METRICS="127.0.0.1:0") as agent:
        said = next(line["message"] for line in agent.lines() if line["message"].startswith("metrics on"))
        port = re.search(r"port (\d+)", said).group(1)
        assert agent_test(tmp_path, "--stream", agent.address).returncode == 0
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert answer.headers.get_content_type() == "text/plain"
            text = answer.read().decode()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert set(values) == {"agent_stream_messages_received_total", "agent_stream_messages_sent_total",
                               "agent_steering_messages_total"}
        assert int(values["agent_steering_messages_total"]) == 3  # a message before the start is not steering
        assert int(values["agent_stream_messages_sent_total"]) > 50
