"""The real Gemini CLI and OpenCode for the tests: where they are, and the whole environment in which they run."""

import json
import os

import pytest

GEMINI = os.environ.get("GEMINI_BIN", "")
OPENCODE = os.environ.get("OPENCODE_BIN", "")
PATH = "/usr/local/bin:/usr/bin:/bin"

needs_gemini = pytest.mark.skipif(not os.access(GEMINI, os.X_OK),
                                  reason="NOT TESTED: the real Gemini CLI is not installed; tools/install-agent says why")
needs_opencode = pytest.mark.skipif(not os.access(OPENCODE, os.X_OK),
                                    reason="NOT TESTED: the real OpenCode is not installed; tools/install-agent says why")


def gemini_environment(home, api_url):
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}))
    return {"PATH": PATH, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "GOOGLE_GEMINI_BASE_URL": api_url, "GEMINI_API_KEY": "sk-test"}


def opencode_environment(home, configuration):
    file = home / "opencode.json"
    file.write_text(configuration)
    return {"PATH": PATH, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "OPENCODE_CONFIG": str(file),
            "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}
