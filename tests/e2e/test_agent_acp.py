"""`shepherd agent test` for agents of the Agent Client Protocol: one without a defect, one with a defect of choice, and real ones."""

import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from server import BINARY, environment

AGENT = Path(__file__).resolve().parents[1] / "agents" / "acp_agent.py"

_spec = importlib.util.spec_from_file_location("acp_agent", AGENT)
acp_agent = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(acp_agent)

# What the report calls the defect, where it has another name. Two names: one defect shows in two checks.
NAMES = {
    "crashes_in_turn": {"alive/agent_ended"},
    "ends_on_unknown_notification": {"alive/agent_ended", "unknown_notification/ends_on_unknown_notification"},
    "wrong_version": {"initialize/protocol_version_not_echoed"},
    "no_version": {"initialize/protocol_version_missing"},
    "refuses_to_begin": {"initialize/initialize_refused"},
    "ways_as_object": {"initialize/auth_methods_malformed"},
    "prints_banner": {"stdout/not_json"},
    "no_jsonrpc": {"json_rpc/jsonrpc_missing"},
    "result_and_error": {"json_rpc/answer_malformed"},
    "error_without_code": {"json_rpc/error_malformed", "unknown_method/unknown_method_code"},
    "answers_twice": {"json_rpc/answered_twice"},
    "answers_unknown_id": {"json_rpc/answer_to_unknown_id"},
    "repeats_request_id": {"json_rpc/request_id_repeats"},
    "sends_an_array": {"json_rpc/not_an_object"},
    "reads_files_uninvited": {"client_methods/uses_what_is_not_offered"},
    "calls_own_method": {"client_methods/method_not_in_protocol"},
    "unknown_method_ok": {"unknown_method/unknown_method_accepted"},
    "unknown_method_code": {"unknown_method/unknown_method_code"},
    "unknown_method_silent": {"unknown_method/unknown_method_not_answered"},
    "answers_notification": {"unknown_notification/notification_answered"},
    "takes_any_session": {"unknown_session/unknown_session_accepted"},
    "relative_silent": {"relative_cwd/relative_cwd_not_answered"},
    "session_without_id": {"session/session_without_id"},
    "refuses_sessions": {"session/session_refused"},
    "never_answers": {"prompt/prompt_not_answered"},
    "refuses_prompts": {"prompt/prompt_refused"},
    "updates_other_session": {"updates/unknown_session_id"},
    "update_without_kind": {"updates/update_malformed"},
    "content_as_text": {"updates/content_malformed"},
    "works_after_answer": {"turn_end/update_after_answer"},
    "no_stop_reason": {"stop_reason/stop_reason_missing", "cancel/cancelled_prompt_reason"},
    "odd_stop_reason": {"stop_reason/stop_reason_unknown", "cancel/cancelled_prompt_reason"},
    "says_cancelled": {"stop_reason/cancelled_by_itself"},
    "update_first": {"tool_calls/update_without_call"},
    "call_without_title": {"tool_calls/call_without_title"},
    "odd_status": {"tool_calls/tool_status_unknown"},
    "status_goes_back": {"tool_calls/status_after_end"},
    "call_without_end": set(),  # a warning
    "asks_without_options": {"permission/permission_malformed"},
    "odd_option_kind": {"permission/permission_malformed"},
    "same_option_ids": {"permission/permission_malformed"},
    "allowed_does_nothing": {"permission_allowed/allowed_tool_did_nothing"},
    "runs_rejected": {"permission_rejected/rejected_tool_ran"},
    "rejected_as_completed": {"permission_rejected/rejected_tool_completed"},
    "ignores_cancel": {"cancel/cancel_without_effect", "survivors/leaves_processes"},
    "cancel_as_error": {"cancel/cancelled_prompt_fails"},
    "cancel_as_end_turn": {"cancel/cancelled_prompt_reason"},
    "dead_after_cancel": {"prompt/prompt_not_answered"},
    "stays": {"exit/stays_after_end_of_input"},
    "leaves_a_process": {"survivors/leaves_processes"},
}
DEFECTS = [defect for check, defects in acp_agent.DEFECTS.items() if check != "login" for defect in defects]


def agent_test(home, *args, timeout=240, **env):
    return subprocess.run([BINARY, "agent", "test", *map(str, args)], capture_output=True, text=True, timeout=timeout,
                          env={**environment(home), **env})


def scripted(home, *defect, form=("--json",), seconds="4"):
    return agent_test(home, "--acp", "--timeout", seconds, *form, "--", sys.executable, "-B", AGENT, *defect)


def checks(result):
    return {check["check"]: check for check in json.loads(result.stdout)["checks"]}


def defects(result):
    return {f"{name}/{defect['defect']}" for name, check in checks(result).items() for defect in check.get("defects", [])}


def not_passed(result):
    return {name: check["verdict"] for name, check in checks(result).items() if check["verdict"] != "passed"}


def test_an_agent_without_a_defect_passes_every_check(tmp_path):
    result = scripted(tmp_path, seconds="10")
    assert result.returncode == 0, result.stdout + result.stderr
    assert not_passed(result) == {}


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_defect_is_named_and_no_other(tmp_path, defect):
    result = scripted(tmp_path, defect)
    assert result.returncode == (1 if NAMES[defect] else 0), result.stdout + result.stderr
    assert defects(result) == NAMES[defect]


def test_a_call_without_an_end_is_a_warning(tmp_path):
    warned = checks(scripted(tmp_path, "call_without_end"))["tool_end"]
    assert warned["verdict"] == "not_shown" and "final status" in warned["note"]


def test_what_an_agent_does_not_do_is_not_called_passed(tmp_path):
    result = scripted(tmp_path, "refuses_prompts")
    unseen = {name: check for name, check in checks(result).items() if check["verdict"] == "skipped"}
    assert set(unseen) == {"message", "updates", "stop_reason", "tool_calls", "tool_end", "permission", "permission_allowed",
                           "permission_rejected", "cancel", "after_cancel"}
    assert all(check["note"] for check in unseen.values())
    shown = scripted(tmp_path, "refuses_prompts", form=())
    assert "skip  permission" in shown.stdout and "not checked: the agent asked for no permission" in shown.stdout


def test_a_defect_is_named_in_every_form_of_the_report(tmp_path):
    junit = tmp_path / "report.xml"
    shown = scripted(tmp_path, "prints_banner", form=("--junit", junit))
    assert shown.returncode == 1 and "FAIL  stdout" in shown.stdout and "Welcome to the agent!" in shown.stdout
    failures = ElementTree.parse(junit).getroot().findall(".//failure")
    assert [failure.get("type") for failure in failures] == ["not_json"]


def test_a_login_that_an_agent_asks_for_is_no_defect(tmp_path):
    result = scripted(tmp_path, "asks_for_login")
    assert result.returncode == 4 and "asks for a login" in result.stderr, result.stderr


def test_a_command_that_does_not_speak_the_protocol(tmp_path):
    ended = agent_test(tmp_path, "--acp", "--", "sh", "-c", "echo no model >&2; exit 4")
    assert ended.returncode == 3 and "exit 4" in ended.stderr and "no model" in ended.stderr
    unknown = agent_test(tmp_path, "--acp", "--", "no-such-agent")
    assert unknown.returncode != 0 and "no-such-agent" in unknown.stderr
    assert agent_test(tmp_path, "--acp").returncode == 2


def test_an_agent_is_found_by_its_name_in_the_configuration(tmp_path):
    config = tmp_path / "shepherd.yaml"
    config.write_text(json.dumps({"agents": {"mine": {"driver": "acp", "command": [sys.executable, "-B", str(AGENT)],
                                                      "env": {"MINE": "1"}}}}))
    result = agent_test(tmp_path, "--json", "--config", config, "mine")
    assert result.returncode == 0 and not_passed(result) == {}, result.stdout + result.stderr
    unknown = agent_test(tmp_path, "--config", config, "mime")
    assert unknown.returncode == 2 and "mime" in unknown.stderr and "mine" in unknown.stderr
