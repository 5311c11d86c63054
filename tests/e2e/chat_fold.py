"""What a chat session is, computed from its log alone: written from the description of the events, without the server's code."""

import json

TYPES = {"session_start", "message", "tool_call", "tool_result", "approval", "eviction", "usage", "error", "status", "command", "command_result", "log"}


def whole_log(api, task):
    """Every event of a task. Its numbers are 1, 2, 3, …"""
    events = []
    while True:
        page = api.get(f"/api/v1/tasks/{task}/events", params={"after": len(events), "limit": 5000, "detail": 1}).raise_for_status().json()
        if not page["events"]:
            break
        events += page["events"]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1)), "the log has a hole"
    return events


def content_of(event):
    """The whole text of a message; a long one is cut in the event and whole in its detail."""
    return event["detail"]["content"] if event["data"].get("contentCut") else event["data"]["content"]


def fold(events):
    """The messages that /session must have, without the system prompt."""
    kept = {}
    for event in events:
        if event["type"] == "message" and event["data"]["role"] != "system":
            data = event["data"]
            message = {"role": data["role"], "content": content_of(event), "tokens": data["tokens"]}
            if data.get("toolCalls"):
                message["tool_calls"] = [(call["id"], call["name"], json.loads(call["arguments"])) for call in data["toolCalls"]]
            if data["role"] == "tool":
                message["tool_call_id"] = data["toolCallID"]
            kept[event["sequence"]] = message
        elif event["type"] == "eviction":
            for number in event["data"]["messages"]:
                assert number in kept, f"event {event['sequence']} evicts {number}, which is no message of the conversation"
                del kept[number]
    return list(kept.values())


def folded_session(session):
    """The same of an answer of /session."""
    found = []
    for message in session["messages"]:
        if message["role"] == "system":
            continue
        made = {"role": message["role"], "content": message["content"], "tokens": message["tokens"]}
        if message.get("tool_calls"):
            made["tool_calls"] = [(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
        if message["role"] == "tool":
            made["tool_call_id"] = message["tool_call_id"]
        found.append(made)
    return found


def check_log(events):
    """Rules that every log of a chat keeps, also one of a server that was killed."""
    called, answered, results = {}, set(), set()
    for event in events:
        assert event["type"] in TYPES, event
        if event["type"] == "message":
            data = event["data"]
            assert isinstance(data["content"], str) and isinstance(data["tokens"], int) and isinstance(data["tokensExact"], bool), event
            for call in data.get("toolCalls", []):
                assert call["id"] not in called, f"call {call['id']} twice"
                called[call["id"]] = event["sequence"]
            if data["role"] == "tool":
                assert data["toolCallID"] in called and data["toolCallID"] not in answered, event
                answered.add(data["toolCallID"])
        elif event["type"] == "tool_call":
            assert event["callID"] in called, "a tool ran before its call was in the log"
        elif event["type"] == "tool_result":
            assert event["callID"] not in results, f"the result of {event['callID']} twice"
            results.add(event["callID"])
    return called, answered
