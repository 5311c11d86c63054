// An agent that audits notes: reads them one by one, reports what should not be in them, and takes the operator's word.
//
//	./build.sh DIRECTORY && DIRECTORY/notes_agent [ADDRESS]
//
// "focus on NAME" reads that note next, "enough" ends the audit. streaming.go is the conversation, this file is the work.
package main

import (
	"encoding/json"
	"log"
	"os"
	"sort"
	"strings"
	"time"
)

type note struct{ name, text string } // no text: it cannot be read

func notes() []note {
	return []note{
		{"meeting.md", "We meet on Tuesdays."},
		{"servers.md", "The root password is correct-horse."},
		{"attic.md", ""},
		{"plan.md", "Ship the audit before the review."},
		{"ideas.md", "Read the notes aloud."},
	}
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err) // only maps and strings of our own come here
	}
	return string(text)
}

func reportPassword(run *Run, n note) error {
	return run.Finding(asJSON(map[string]any{
		"id": "finding-" + n.name, "title": "Password in a note",
		"description": n.name + " has a password in clear text",
		"severity":    "high", "confidence": 0.9, "category": "credential_exposure",
		"mitre_techniques": []string{"T1552.001"},
		"evidence":         []map[string]string{{"type": "text", "title": n.name, "content": n.text}},
	}))
}

func readNote(run *Run, n note) error {
	call, err := run.ToolCall("read_note", asJSON(map[string]string{"name": n.name}))
	if err != nil {
		return err
	}
	if n.text == "" {
		problem := "the note cannot be read"
		if err := run.ToolResult(call, asJSON(map[string]string{"error": problem}), false); err != nil {
			return err
		}
		return run.Error("TOOL_FAILED", "read_note: "+problem)
	}
	if err := run.ToolResult(call, asJSON(map[string]string{"text": n.text}), true); err != nil {
		return err
	}
	if !strings.Contains(n.text, "password") {
		return run.Output(n.name + ": nothing to report\n")
	}
	if err := reportPassword(run, n); err != nil {
		return err
	}
	return run.Output(n.name + ": has a password\n")
}

// follow does what the operator said; false when they have had enough.
func follow(run *Run, word string, left []note) (bool, error) {
	sort.SliceStable(left, func(i, j int) bool {
		return word == "focus on "+left[i].name && word != "focus on "+left[j].name
	})
	return word != "enough", run.Output("The operator says: " + word + "\n")
}

func audit(run *Run) error {
	left := notes()
	if err := run.Output("Auditing the notes: " + run.Goal + "\n"); err != nil {
		return err
	}
	for len(left) > 0 {
		n := left[0]
		left = left[1:]
		if err := run.Reason("Next is " + n.name + "; passwords and keys do not belong there.\n"); err != nil {
			return err
		}
		if err := readNote(run, n); err != nil {
			return err
		}
		if err := run.WaitFor(150 * time.Millisecond); err != nil {
			return err
		}
		for word, heard, err := run.NextSteering(); heard || err != nil; word, heard, err = run.NextSteering() {
			if err != nil {
				return err
			}
			if goOn, err := follow(run, word, left); err != nil || !goOn {
				return err
			}
		}
		if len(left) == 0 {
			break
		}
		word, heard, err := run.WaitForInput("Shall I go on with " + left[0].name + "?")
		if err != nil {
			return err
		}
		if heard {
			if goOn, err := follow(run, word, left); err != nil || !goOn {
				return err
			}
		}
	}
	return nil
}

func main() {
	address := "127.0.0.1:50051"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	if err := serve(address, audit); err != nil {
		log.Fatal(err)
	}
}
