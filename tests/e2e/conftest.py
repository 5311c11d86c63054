import os
import re

import pytest

import server as server_module
from server import Server
from tasks import new_task


def pytest_sessionstart(session):
    if not server_module.BINARY or not os.access(server_module.BINARY, os.X_OK):
        pytest.exit("set SHEPHERD_BIN to the shepherd program to test", returncode=2)


# Features that a continuous-integration machine may lack. Any other skipped test there fails.
MAY_BE_LEFT_OUT = re.compile("this kernel's Landlock is|only root can be|the program lies where|once is enough|optional: ")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows the end of its servers' logs. Under CI=true a skipped one has failed."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not MAY_BE_LEFT_OUT.match(reason):
            report.outcome, report.longrepr = "failed", f"{item.nodeid} was left out, which CI=true forbids: {reason}"
    if report.when == "call" and report.failed:
        for value in item.funcargs.values():
            if isinstance(value, Server):
                report.sections.append(("server log", value.log()))


@pytest.fixture
def make_server(tmp_path):
    """Creates servers that end with the test."""
    made = []

    def make(name="data", **options):
        made.append(Server(tmp_path / name, **options))
        return made[-1]

    yield make
    for each in made:
        each.kill()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server") / "data").start()
    yield server
    server.kill()


@pytest.fixture
def server(shared_server):
    """One server for all tests of a file; it must survive each of them."""
    yield shared_server
    assert shared_server.alive(), f"the server ended during the test\n{shared_server.log()}"


@pytest.fixture
def api(server):
    with server.api() as client:
        yield client


@pytest.fixture
def runner(server):
    with server.runner() as client:
        yield client


@pytest.fixture
def task(api):
    """The id of a new external task."""
    return new_task(api)
