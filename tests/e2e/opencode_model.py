"""What the real OpenCode needs to talk to a scripted OpenAI-compatible model on loopback (model_fakes)."""

import json

import model_fakes


def configuration(url, **more):
    """The text of an OPENCODE_CONFIG file with the fake as the only provider."""
    return json.dumps({
        "$schema": "https://opencode.ai/config.json", "model": "fake/fake-1", "small_model": "fake/fake-1", "share": "disabled",
        "autoupdate": False,
        "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": url, "apiKey": "sk-test"},
                              "models": {"fake-1": {"name": "Fake", "tool_call": True, "limit": {"context": 100000, "output": 8000},
                                                    "cost": {"input": 1000, "output": 2000}}}}}, **more})


def script(*answers):
    """Plays answers for the requests with tools, in order. Requests without tools are for titles, and get a short answer."""
    return by_number(lambda number, _: answers[number - 1] if number <= len(answers) else model_fakes.text("The script is over."))


def by_number(choose):
    """As script(), by a function of the number of the request among those with tools and the request."""
    count = 0

    def answer(request):
        nonlocal count
        if not request.body.get("tools"):
            return model_fakes.text("A title")
        count += 1
        return choose(count, request)
    return answer
