"""ObservabilityService over gRPC, with a client that uses only reflection."""

import json
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from rpc_client import RpcClient, SERVICE
from tasks import end_task, eventually, new_task as create_task, note, post_events
from test_tls import certificate, config_of  # noqa: F401  (a fixture)


@pytest.fixture
def rpc(server):
    with RpcClient(server.ready["grpc"], server.token) as client:
        yield client


def new_task(server, **members):
    with server.api() as api:
        return create_task(api, **members)


def post(server, task, *events):
    with server.runner() as runner:
        post_events(runner, task, *events)


def sequences(messages, task):
    return [m.sequence for m in messages if m.agent_id == task and m.sequence]


def refused(call):
    with pytest.raises(grpc.RpcError) as caught:
        list(call) if hasattr(call, "__iter__") else call()
    return caught.value.code(), caught.value.details()


def test_a_log_is_streamed_as_it_is_and_goes_on_live(server, rpc):
    task = new_task(server)
    post(server, task, *(note(f"step {i}", sessionID="s-1") for i in range(3)))
    stream = rpc.stream({"agentIds": [task]})
    stored = [next(stream) for _ in range(4)]
    assert sequences(stored, task) == [1, 2, 3]
    assert stored[3].WhichOneof("notice") == "caught_up" and stored[3].caught_up.sequence == 3
    first = stored[0]
    whole = json.loads(first.event_json)
    assert (first.summary, first.session_id, whole["summary"], whole["sequence"]) == ("step 0", "s-1", "step 0", 1)
    assert first.timestamp.ToJsonString() == whole["timestamp"]
    assert first.received_at.ToJsonString() == whole["receivedAt"]
    post(server, task, note("live"))
    assert next(stream).summary == "live"
    stream.cancel()


def test_it_ends_when_its_tasks_have_ended(server, rpc):
    task = new_task(server)
    post(server, task, note("work"))
    with server.runner() as runner:
        end_task(runner, task, message="done")
    messages = list(rpc.stream({"agentIds": [task]}))
    assert sequences(messages, task) == [1, 2]
    assert json.loads(messages[-1].complete.status_json)["status"] == "completed"


@pytest.mark.parametrize("after", [0, 1, 4])
def test_after_continues_behind_that_number(server, rpc, after):
    task = new_task(server)
    post(server, task, *(note(str(i)) for i in range(5)))
    messages = list(rpc.stream({"agentIds": [task], "after": {task: after}, "untilCaughtUp": True}))
    assert sequences(messages, task) == list(range(after + 1, 6))


def test_types_sessions_and_time_filter(server, rpc):
    task = new_task(server)
    post(server, task, note("old", sessionID="a"), {"type": "error", "summary": "bad", "sessionID": "b"})
    post(server, task, {"type": "session_start", "summary": "starts", "sessionID": f"{task}-s", "data": {"model": "m"}})
    before = since_ms = time.time_ns() // 1_000_000
    while since_ms == before:  # later events have a later millisecond
        since_ms = time.time_ns() // 1_000_000
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_ms // 1000)) + f".{since_ms % 1000:03d}Z"
    post(server, task, note("new", sessionID=f"{task}-s"), note("other", sessionID="x"))

    def summaries(**request):
        return [m.summary for m in rpc.stream({"untilCaughtUp": True, **request}) if m.sequence]

    assert summaries(agentIds=[task], eventTypes=["EVENT_TYPE_ERROR"]) == ["bad"]
    assert summaries(agentIds=[task], since=since) == ["new", "other"]
    assert summaries(agentIds=[task], sessionIds=["b"]) == ["bad"]
    assert summaries(sessionIds=[f"{task}-s"]) == ["starts", "new"]
    everything = summaries(since=since)
    assert everything[-2:] == ["new", "other"] and "old" not in everything


def test_all_tasks_from_now_and_again_behind_a_cursor(server, rpc):
    one, two = new_task(server), new_task(server)
    post(server, one, note("before"))
    stream = rpc.stream({})
    assert next(stream).WhichOneof("notice") == "caught_up"
    post(server, one, note("a"))
    post(server, two, note("b"))
    seen = [next(stream), next(stream)]
    assert [(m.agent_id, m.summary) for m in seen] == [(one, "a"), (two, "b")]
    stream.cancel()
    post(server, two, note("c"))
    behind = [m for m in rpc.stream({"cursor": seen[0].cursor, "untilCaughtUp": True}) if m.sequence]
    assert [(m.agent_id, m.summary) for m in behind] == [(two, "b"), (two, "c")]


def test_nothing_is_missing_or_repeated_over_kills_of_the_server(make_server):
    server = make_server().start()
    tasks = [new_task(server) for _ in range(3)]
    last, posted = dict.fromkeys(tasks, 0), 0
    for _ in range(5):
        with RpcClient(server.ready["grpc"], server.token) as client:
            stream = client.stream({"agentIds": tasks, "after": {t: str(n) for t, n in last.items()}})
            for _ in range(20):
                posted += 1
                for task in tasks:
                    post(server, task, note(f"{posted}"))
            wanted = 3 * 13  # somewhere in the middle of what was posted
            for message in stream:
                if not message.sequence:
                    continue
                assert message.sequence == last[message.agent_id] + 1
                assert message.summary == str(message.sequence)
                last[message.agent_id] = message.sequence
                wanted -= 1
                if wanted == 0:
                    break
            server.kill()
            server.start()
    with RpcClient(server.ready["grpc"], server.token) as client:
        request = {"agentIds": tasks, "after": {t: str(n) for t, n in last.items()}, "untilCaughtUp": True}
        for message in client.stream(request):
            if message.sequence:
                assert message.sequence == last[message.agent_id] + 1
                last[message.agent_id] = message.sequence
    assert set(last.values()) == {posted}


def test_a_caller_who_does_not_read_harms_nobody(make_server):
    server = make_server().start()
    task = new_task(server)
    with RpcClient(server.ready["grpc"], server.token) as client:
        stuck = [client.stream({"agentIds": [task]}, timeout=None) for _ in range(20)]
        reading = client.stream({"agentIds": [task]})
        for _ in range(40):
            post(server, task, *(note("x" * 2000) for _ in range(100)))
        before = server.rss_bytes()
        for _ in range(120):
            post(server, task, *(note("x" * 2000) for _ in range(100)))
        seen = 0
        for message in reading:
            seen += 1 if message.sequence else 0
            if seen == 16_000:
                break
        assert server.rss_bytes() - before < 40 * 2**20, "24 MB passed twenty callers who read nothing"
        for each in stuck:
            each.cancel()


def test_who_may_call(server):
    with RpcClient(server.ready["grpc"]) as nobody:
        assert refused(lambda: nobody.call("ListAgents"))[0] == grpc.StatusCode.UNAUTHENTICATED
        assert refused(nobody.stream())[0] == grpc.StatusCode.UNAUTHENTICATED
    with RpcClient(server.ready["grpc"], "shp_wrong") as stranger:
        assert refused(lambda: stranger.call("GetMetrics"))[0] == grpc.StatusCode.UNAUTHENTICATED
    task = new_task(server)
    made = server.cli("token", "create", "one-task", "--scope", "producer", "--task", task, "--json")
    with RpcClient(server.ready["grpc"], json.loads(made.stdout)["secret"]) as producer:
        assert refused(lambda: producer.call("ListAgents"))[0] == grpc.StatusCode.PERMISSION_DENIED


def test_a_revoked_token_ends_its_streams(server):
    made = json.loads(server.cli("token", "create", "leaves", "--scope", "viewer", "--json").stdout)
    with RpcClient(server.ready["grpc"], made["secret"]) as client:
        stream = client.stream({})
        assert next(stream).WhichOneof("notice") == "caught_up"
        server.cli("token", "revoke", made["id"])
        code, _ = refused(stream)
        assert code == grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("request_body, code, says", [
    ({"agentIds": ["nobody-knows"]}, grpc.StatusCode.NOT_FOUND, "nobody-knows"),
    ({"agentIds": ["../x"]}, grpc.StatusCode.INVALID_ARGUMENT, "../x"),
    ({"sessionIds": ["nobody-knows"]}, grpc.StatusCode.NOT_FOUND, "nobody-knows"),
    ({"cursor": "not one"}, grpc.StatusCode.INVALID_ARGUMENT, "cursor"),
    ({"after": {"t": -1}}, grpc.StatusCode.INVALID_ARGUMENT, "-1"),
    ({"agentIds": ["a"], "after": {"b": 1}}, grpc.StatusCode.INVALID_ARGUMENT, "not among agent_ids"),
    ({"eventTypes": [99]}, grpc.StatusCode.INVALID_ARGUMENT, "99"),
    ({"agentIds": [f"t{i}" for i in range(1001)]}, grpc.StatusCode.INVALID_ARGUMENT, "1000"),
])
def test_bad_requests_are_told_what_is_wrong(rpc, request_body, code, says):
    got, details = refused(rpc.stream(request_body))
    assert got == code and says in details


def test_a_number_beyond_the_log_is_refused(server, rpc):
    task = new_task(server)
    post(server, task, note("only"))
    code, details = refused(rpc.stream({"agentIds": [task], "after": {task: 7}}))
    assert code == grpc.StatusCode.FAILED_PRECONDITION and "ends at 1" in details


def test_agents_are_listed_in_pages(make_server):
    server = make_server().start()
    made = [new_task(server, labels={"team": "a"}) for _ in range(5)]
    post(server, made[0], note("work"))
    with RpcClient(server.ready["grpc"], server.token) as client:
        found, token = [], ""
        while True:
            page = client.call("ListAgents", {"pageSize": 2, "pageToken": token})
            found += page.agents
            token = page.next_page_token
            if not token:
                break
        assert [a.agent_id for a in found] == made[::-1]
        assert found[-1].state == "running" and found[-1].last_sequence == 1 and found[0].labels["team"] == "a"
        running = client.call("ListAgents", {"state": "running"}).agents
        assert [a.agent_id for a in running] == [made[0]]
        code, details = refused(lambda: client.call("ListAgents", {"state": "asleep"}))
        assert code == grpc.StatusCode.INVALID_ARGUMENT and "asleep" in details


def test_a_session_has_its_tasks_usage_and_events(server, rpc):
    task = new_task(server, workflowID="w-1")
    session = f"{task}-session"
    post(server, task, {"type": "session_start", "summary": "starts", "sessionID": session, "data": {"model": "m"}},
         *(note(f"step {i}", sessionID=session) for i in range(10)),
         {"type": "usage", "summary": "used", "sessionID": session,
          "data": {"costUSD": 0.25, "inputTokens": 100, "outputTokens": 20}})
    answer = rpc.call("GetSession", {"sessionId": session, "events": 3})
    assert [a.agent_id for a in answer.agents] == [task]
    assert (answer.status, answer.workflow_id) == ("running", "w-1") and not answer.HasField("completed_at")
    assert (answer.usage.cost_usd, answer.usage.input_tokens) == (0.25, 100)
    assert [e.summary for e in answer.events] == ["step 8", "step 9", "used"]
    # The session continues in another task: both are one story, with only their own events.
    resumed = new_task(server)
    post(server, resumed, {"type": "session_start", "summary": "resumed", "sessionID": session}, note("elsewhere"))
    answer = rpc.call("GetSession", {"sessionId": session, "events": 3})
    assert [(e.agent_id, e.summary) for e in answer.events] == [(task, "step 9"), (task, "used"), (resumed, "resumed")]
    code, _ = refused(lambda: rpc.call("GetSession", {"sessionId": "nobody-knows"}))
    assert code == grpc.StatusCode.NOT_FOUND


def test_metrics_are_those_of_the_server(server, rpc):
    task = new_task(server)
    post(server, task, note("counted"))
    metrics = {m.name: m for m in rpc.call("GetMetrics").metrics}
    assert metrics["shepherd_events_appended_total"].counter >= 1
    histogram = metrics["shepherd_commit_seconds"].histogram
    assert histogram.count >= 1 and histogram.buckets[-1].count == histogram.count
    only = rpc.call("GetMetrics", {"namePrefix": "shepherd_hub_"}).metrics
    assert only and all(m.name.startswith("shepherd_hub_") for m in only)
    labelled = next(m for m in rpc.call("GetMetrics", {"namePrefix": "shepherd_http_requests"}).metrics)
    assert labelled.labels["listener"] in ("public", "internal")


def test_open_streams_are_a_gauge_and_the_answer_has_its_time(make_server):
    server = make_server().start()
    with RpcClient(server.ready["grpc"], server.token) as client:
        def streams():
            answer = client.call("GetMetrics", {"namePrefix": "shepherd_grpc_streams"})
            assert abs(answer.at.ToSeconds() - time.time()) < 60
            (metric,) = answer.metrics
            assert metric.WhichOneof("value") == "gauge"
            return metric.gauge

        open_calls = [client.stream({}) for _ in range(2)]
        for call in open_calls:
            assert next(call).WhichOneof("notice") == "caught_up"
        assert streams() == 2
        for call in open_calls:
            call.cancel()
        assert eventually(lambda: streams() == 0)


def test_health_of_the_server_and_of_its_service(server):
    with grpc.insecure_channel(server.ready["grpc"]) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", SERVICE):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        code, _ = refused(lambda: health.Check(health_pb2.HealthCheckRequest(service="other"), timeout=10))
        assert code == grpc.StatusCode.NOT_FOUND


def test_a_server_that_stops_says_so_to_whoever_watches_its_health(make_server):
    server = make_server().start()
    with grpc.insecure_channel(server.ready["grpc"]) as channel:
        seen = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=60)
        assert next(seen).status == health_pb2.HealthCheckResponse.SERVING
        server.process.terminate()
        assert next(seen).status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert server.process.wait(15) == 0


def test_reflection_names_what_is_offered(server):
    with grpc.insecure_channel(server.ready["grpc"]) as channel:
        offered = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    assert {SERVICE, "grpc.health.v1.Health"} <= offered


def test_over_tls(make_server, certificate):  # noqa: F811
    server = make_server(config=config_of(certificate, ("grpc",))).start()
    task = new_task(server)
    post(server, task, note("secret work"))
    trusted = grpc.ssl_channel_credentials(certificate[0].read_bytes())
    with RpcClient(server.ready["grpc"], server.token, trusted) as client:
        assert sequences(client.stream({"agentIds": [task], "untilCaughtUp": True}), task) == [1]


def test_streams_end_with_the_server(make_server):
    server = make_server().start()
    with RpcClient(server.ready["grpc"], server.token) as client:
        stream = client.stream({})
        assert next(stream).WhichOneof("notice") == "caught_up"
        assert server.stop() == 0
        assert refused(stream)[0] == grpc.StatusCode.UNAVAILABLE


def test_a_taken_address_is_told_and_the_default_one_is_not_needed(make_server):
    first = make_server("first").start()
    with pytest.raises(Exception) as caught:
        make_server("second", grpc=first.ready["grpc"]).start()
    assert first.ready["grpc"] in str(caught.value) and "--grpc-listen" in str(caught.value)
    off = make_server("third", grpc="off").start()
    assert off.ready["grpc"] is None
