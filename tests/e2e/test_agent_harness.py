"""`shepherd agent test` and its agents: examples in three languages, a defective one, and one from a project that has
only the installed library. A client that uses only reflection talks to them as well."""

import json
import os
import queue
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from server import BINARY, environment

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "agents"
BUILD = os.environ.get("SHEPHERD_BUILD", "")
NOTES_AGENT = os.environ.get("NOTES_AGENT_BIN", "")
DEFECTIVE_AGENT = os.environ.get("DEFECTIVE_AGENT_BIN", "")


def agent_test(home, *args, timeout=120):
    return subprocess.run([BINARY, "agent", "test", *map(str, args)], capture_output=True, text=True, timeout=timeout,
                          env=environment(home))


def report_of(result):
    report = json.loads(result.stdout)
    return {check["check"]: check for check in report["checks"]}


def assert_all_pass(result):
    assert result.returncode == 0, result.stdout + result.stderr
    verdicts = {check: entry["verdict"] for check, entry in report_of(result).items()}
    assert set(verdicts.values()) == {"passed"}, verdicts


def run(*command, **options):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1000, **options)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="session")
def python_agent(tmp_path_factory):
    protocol = tmp_path_factory.mktemp("python-protocol")
    run(EXAMPLES / "python" / "build.sh", protocol, env={**os.environ, "PYTHON": sys.executable})
    return ["env", f"PYTHONPATH={protocol}", sys.executable, "-B", EXAMPLES / "python" / "notes_agent.py"]


@pytest.fixture(scope="session")
def go_agent(tmp_path_factory):
    directory = tmp_path_factory.mktemp("go-agent")
    run(EXAMPLES / "go" / "build.sh", directory)
    return [directory / "notes_agent"]


@pytest.fixture(scope="session")
def outside_agent(tmp_path_factory):
    """An agent built against the installed package, outside this tree."""
    directory = tmp_path_factory.mktemp("outside")
    run("cmake", "--install", BUILD, "--component", "agent-sdk", "--prefix", directory / "prefix")
    run("cmake", "-G", "Ninja", "-S", HERE / "outside_agent", "-B", directory / "build",
        f"-DCMAKE_PREFIX_PATH={directory / 'prefix'}")
    run("cmake", "--build", directory / "build")
    return [directory / "build" / "outside_agent"]


def test_the_example_in_cpp_is_right(tmp_path):
    assert_all_pass(agent_test(tmp_path, "--json", "--", NOTES_AGENT, "{address}"))


def test_the_example_in_python_is_right(tmp_path, python_agent):
    assert_all_pass(agent_test(tmp_path, "--json", "--", *python_agent, "{address}"))


def test_the_example_in_go_is_right(tmp_path, go_agent):
    assert_all_pass(agent_test(tmp_path, "--json", "--", *go_agent, "{address}"))


def test_an_agent_of_a_project_outside_the_tree_is_right_and_what_it_does_not_show_is_a_warning(tmp_path, outside_agent):
    result = agent_test(tmp_path, "--json", "--", *outside_agent, "{address}")
    assert result.returncode == 0, result.stdout + result.stderr
    others = {check: entry["verdict"] for check, entry in report_of(result).items() if entry["verdict"] != "passed"}
    assert others == {"findings": "not_shown", "errors": "not_shown", "waiting": "not_shown"}


def test_a_defect_is_named_in_every_form_of_the_report(tmp_path):
    junit = tmp_path / "report.xml"
    command = ["--", DEFECTIVE_AGENT, "{address}", "ack_of_wrong_id"]
    text = agent_test(tmp_path, "--junit", junit, *command)
    assert text.returncode == 1
    assert "FAIL  steering" in text.stdout and "ack_of_unknown_message" in text.stdout
    assert "1 failed" in text.stdout
    failures = ElementTree.parse(junit).getroot().findall(".//failure")
    assert [failure.get("type") for failure in failures] == ["ack_of_unknown_message"]
    as_json = agent_test(tmp_path, "--json", *command)
    assert as_json.returncode == 1
    defects = [d["defect"] for check in report_of(as_json).values() for d in check.get("defects", [])]
    assert defects == ["ack_of_unknown_message"]


def test_last_words_that_are_no_text_leave_every_report_readable(tmp_path):
    junit = tmp_path / "report.xml"
    command = f"printf '\\377\\001\\033[31m<&]]>\\n' >&2; exec {DEFECTIVE_AGENT} \"$0\" crashes_on_start"
    result = agent_test(tmp_path, "--timeout", "3", "--junit", junit, "--", "sh", "-c", command, "{address}")
    assert result.returncode == 1 and "signal 6" in result.stdout and "\x1b" not in result.stdout, result.stderr
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    failures = {case.get("name"): case.find("failure") for case in suite if case.find("failure") is not None}
    # Requests that precede the detection of its end fail as well.
    assert {"alive", "start"} <= set(failures) and int(suite.get("failures")) == len(failures)
    assert failures["alive"].get("type") == "agent_ended" and "<&]]>" in failures["alive"].text
    report = json.loads(agent_test(tmp_path, "--timeout", "3", "--json", "--", "sh", "-c", command, "{address}").stdout)
    assert report["passed"] is False


def test_says_what_is_missing(tmp_path):
    assert agent_test(tmp_path).returncode == 2
    nobody = agent_test(tmp_path, "--stream", "unix:" + str(tmp_path / "nobody.sock"), "--timeout", "0.5")
    assert nobody.returncode == 3 and "no agent answers" in nobody.stderr and "No such file" in nobody.stderr
    ended = agent_test(tmp_path, "--", "sh", "-c", "echo no model >&2; exit 4")
    assert ended.returncode == 3 and "exit code 4" in ended.stderr and "no model" in ended.stderr


class Running:
    """An agent on a socket in a directory, until the end of the block."""

    def __init__(self, command, directory):
        self.address = f"unix:{directory}/agent.sock"
        self.process = subprocess.Popen([*map(str, command), self.address], stderr=subprocess.DEVNULL)

    def __enter__(self):
        self.channel = grpc.insecure_channel(self.address)
        grpc.channel_ready_future(self.channel).result(30)
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.process.terminate()
        assert self.process.wait(30) == 0


def test_one_that_runs_already_is_checked_but_not_ended(tmp_path):
    with Running([NOTES_AGENT], tmp_path) as agent:
        result = agent_test(tmp_path, "--json", "--stream", agent.address)
        assert result.returncode == 0, result.stdout + result.stderr
        checks = report_of(result)
        assert checks["shutdown"]["verdict"] == "skipped" and checks["cancel"]["verdict"] == "passed"
        assert agent.process.poll() is None


def test_an_agent_is_found_by_its_name_in_the_configuration(tmp_path):
    config = tmp_path / "shepherd.yaml"
    with Running([NOTES_AGENT], tmp_path) as agent:
        config.write_text(f"agents:\n  auditor:\n    type: grpc\n    address: {agent.address}\n")
        result = agent_test(tmp_path, "--json", "--config", config, "--stream", "auditor")
        assert result.returncode == 0, result.stdout + result.stderr
    unknown = agent_test(tmp_path, "--config", config, "--stream", "auditr")
    assert unknown.returncode == 2 and "auditr" in unknown.stderr and "it has auditor" in unknown.stderr


def test_a_client_that_knows_only_reflection_can_run_and_steer_it(tmp_path):
    with Running([NOTES_AGENT], tmp_path) as agent:
        database = ProtoReflectionDescriptorDatabase(agent.channel)
        assert "gibson.agent.AgentService" in database.get_services()
        method = DescriptorPool(database).FindServiceByName("gibson.agent.AgentService").methods_by_name["StreamExecute"]
        client_message, agent_message = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        outgoing = queue.Queue()
        outgoing.put(client_message(start={"task_json": '{"id":"t","goal":"reflect"}'}))
        outgoing.put(client_message(steering={"id": "s-1", "content": "focus on plan.md"}))
        call = agent.channel.stream_stream("/gibson.agent.AgentService/StreamExecute",
                                           request_serializer=client_message.SerializeToString,
                                           response_deserializer=agent_message.FromString)
        messages = list(call(iter(outgoing.get, None), timeout=60))
        outgoing.put(None)
        assert [message.sequence for message in messages] == list(range(1, len(messages) + 1))
        acks = [m.steering_ack.message_id for m in messages if m.WhichOneof("payload") == "steering_ack"]
        assert acks == ["s-1"]
        read = [json.loads(m.tool_call.input_json)["name"] for m in messages if m.WhichOneof("payload") == "tool_call"]
        assert read[:2] == ["meeting.md", "plan.md"], "the operator's word changed the order"
        kinds = {m.WhichOneof("payload") for m in messages}
        assert kinds == {"output", "tool_call", "tool_result", "finding", "status", "steering_ack", "error"}
        assert messages[-1].status.status == 4


def test_an_agent_of_the_typed_dialect_is_checked(tmp_path):
    assert_all_pass(agent_test(tmp_path, "--json", "--dialect", "typed", "--", NOTES_AGENT, "{address}"))
    mixed = agent_test(tmp_path, "--dialect", "typed", "--timeout", "3", "--", DEFECTIVE_AGENT, "{address}", "--typed", "answers_in_the_other_dialect")
    assert mixed.returncode == 1 and "unreadable_message" in mixed.stdout, mixed.stdout
    other = agent_test(tmp_path, "--timeout", "3", "--", DEFECTIVE_AGENT, "{address}", "--typed")
    assert other.returncode == 1 and "--dialect" in other.stdout, other.stdout
    assert agent_test(tmp_path, "--dialect", "xml", "--stream", "127.0.0.1:1").returncode == 2
