"""An agent that audits notes: reads them one by one, reports what should not be in them, and takes the operator's word.

    build.sh DIRECTORY                    once: makes the protocol's Python code
    PYTHONPATH=DIRECTORY python notes_agent.py [ADDRESS]

"focus on NAME" reads that note next, "enough" ends the audit. streaming.py is the conversation, this file is the work.
"""

import json
import sys

import streaming

NOTES = [
    ("meeting.md", "We meet on Tuesdays."),
    ("servers.md", "The root password is correct-horse."),
    ("attic.md", None),  # cannot be read
    ("plan.md", "Ship the audit before the review."),
    ("ideas.md", "Read the notes aloud."),
]


def report_password(run, name, text):
    run.finding({
        "id": f"finding-{name}", "title": "Password in a note", "description": f"{name} has a password in clear text",
        "severity": "high", "confidence": 0.9, "category": "credential_exposure", "mitre_techniques": ["T1552.001"],
        "evidence": [{"type": "text", "title": name, "content": text}],
    })


def read_note(run, name, text):
    call = run.tool_call("read_note", json.dumps({"name": name}))
    if text is None:
        run.tool_result(call, json.dumps({"error": "the note cannot be read"}), False)
        run.error("TOOL_FAILED", "read_note: the note cannot be read")
        return
    run.tool_result(call, json.dumps({"text": text}), True)
    leaks = "password" in text
    if leaks:
        report_password(run, name, text)
    run.output(f"{name}: {'has a password' if leaks else 'nothing to report'}\n")


def follow(run, word, notes):
    """False when the operator has had enough."""
    run.output(f"The operator says: {word}\n")
    notes.sort(key=lambda note: word != f"focus on {note[0]}")  # stable: the others keep their order
    return word != "enough"


def audit(run):
    notes = list(NOTES)
    run.output(f"Auditing the notes: {run.goal}\n")
    while notes:
        name, text = notes.pop(0)
        run.reason(f"Next is {name}; passwords and keys do not belong there.\n")
        read_note(run, name, text)
        run.wait_for(0.15)
        while (word := run.next_steering()) is not None:
            if not follow(run, word, notes):
                return
        if notes and (word := run.wait_for_input(f"Shall I go on with {notes[0][0]}?")) is not None:
            if not follow(run, word, notes):
                return


if __name__ == "__main__":
    streaming.serve(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051", audit)
