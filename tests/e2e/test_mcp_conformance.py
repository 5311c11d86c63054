"""The public MCP conformance suite's client scenarios, against the MCP client in src/mcp (src/mcp/mcp_check)."""

import os
import re
import subprocess

import pytest

from mcp_world import NODE, PACKAGES, needs_servers

SUITE = [NODE, PACKAGES / "conformance" / "dist" / "index.js"]
CLIENT = os.environ.get("MCP_CHECK_BIN", "")

# Each scenario with the versions of the protocol in which it is run.
APPLY = {
    "initialize": ["2025-06-18", "2025-11-25"],
    "tools_call": ["2025-06-18", "2025-11-25", "2026-07-28"],
    "sse-retry": ["2025-11-25"],
    "json-schema-2020-12-preservation": ["2025-11-25", "2026-07-28"],
    "request-metadata": ["2026-07-28"],
    "sep-2322-client-request-state": ["2026-07-28"],
    "http-standard-headers": ["2026-07-28"],
    "http-custom-headers": ["2026-07-28"],
    "http-invalid-tool-headers": ["2026-07-28"],
    "json-schema-ref-no-deref": ["2026-07-28"],
}

# Why the others are left out, by the beginning of their names.
LEFT_OUT = {
    "sep-2640-": "an extension: skills, which are resources, and this client reads no resources by itself",
    "elicitation-sep1034-client-defaults": "this client declares no elicitation: no person sits at a tool call, so a server may not ask",
    "auth/": "keys come from the configuration (a file, a command, the environment); this client does not run the flows of OAuth",
}


def listed():
    """The suite's scenarios for clients, each with its versions."""
    shown = subprocess.run([*SUITE, "list", "--client"], capture_output=True, text=True, timeout=60, check=True).stdout
    return {name: versions.split(",") for name, versions in re.findall(r"^  - (\S+) \[(.*)\]$", shown, re.MULTILINE)}


@needs_servers
def test_every_scenario_is_run_or_left_out_for_a_reason():
    names = listed()
    assert len(names) > 20, names
    unknown = [name for name in names if name not in APPLY and not any(name.startswith(begin) for begin in LEFT_OUT)]
    assert not unknown, f"the suite has scenarios that are neither run nor left out: {unknown}"
    assert APPLY == {name: versions for name, versions in names.items() if name in APPLY}
    assert all(any(name.startswith(begin) for name in names) for begin in LEFT_OUT)


@needs_servers
@pytest.mark.parametrize("scenario, version", [(name, version) for name, versions in APPLY.items() for version in versions])
def test_scenario(scenario, version, tmp_path):
    ran = subprocess.run([*SUITE, "client", "--command", CLIENT, "--scenario", scenario, "--spec-version", version], capture_output=True, text=True,
                         timeout=90, cwd=tmp_path)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0 and "OVERALL: PASSED" in said, said
    passed, total, failed, warnings = map(int, re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", said).groups())
    assert passed == total > 0 and failed == warnings == 0, said
