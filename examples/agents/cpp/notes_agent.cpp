// An agent that audits notes: reads them one by one, reports what should not be in them, and takes the operator's word.
//
//   notes_agent [ADDRESS]        "focus on NAME" reads that note next, "enough" ends the audit
//
// From the environment, each when it is set: NOTES_CERT and NOTES_KEY (files, for TLS), NOTES_CLIENT_CA (whose callers
// may come in), NOTES_TOKEN (that they must send), NOTES_METRICS (HOST:PORT for Prometheus).
#include <shepherd/agent/agent.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>

namespace agent = shepherd::agent;

namespace {

struct Note {
  std::string name, text;  // no text: it cannot be read
};

std::string read_note(const Note& note) {
  if (note.text.empty()) throw std::runtime_error("the note cannot be read");
  return "{\"text\":" + agent::quoted(note.text) + "}";
}

void report_password(agent::Execution& run, const Note& note) {
  run.finding({.title = "Password in a note",
               .description = note.name + " has a password in clear text",
               .severity = "high",
               .confidence = 0.9,
               .category = "credential_exposure",
               .mitre_techniques = {"T1552.001"},
               .evidence = {{.type = "text", .title = note.name, .content = note.text}}});
}

// False when the operator has had enough.
bool follow(agent::Execution& run, const agent::Steering& word, std::deque<Note>& notes) {
  run.output("The operator says: " + word.content + "\n");
  auto is_meant = [&](const Note& note) { return word.content == "focus on " + note.name; };
  if (auto note = std::find_if(notes.begin(), notes.end(), is_meant); note != notes.end()) {
    std::rotate(notes.begin(), note, note + 1);
  }
  return word.content != "enough";
}

void audit(agent::Execution& run) {
  std::deque<Note> notes = {{"meeting.md", "We meet on Tuesdays."},
                            {"servers.md", "The root password is correct-horse."},
                            {"attic.md", ""},
                            {"plan.md", "Ship the audit before the review."},
                            {"ideas.md", "Read the notes aloud."}};
  run.output("Auditing the notes: " + run.task().goal + "\n");
  while (!notes.empty()) {
    Note note = notes.front();
    notes.pop_front();
    run.reason("Next is " + note.name + "; passwords and keys do not belong there.\n");
    std::string input = "{\"name\":" + agent::quoted(note.name) + "}";
    if (run.tool("read_note", input, [&] { return read_note(note); })) {
      bool leaks = note.text.find("password") != std::string::npos;
      if (leaks) report_password(run, note);
      run.output(note.name + (leaks ? ": has a password\n" : ": nothing to report\n"));
    }
    run.wait_for(std::chrono::milliseconds(150));
    while (auto word = run.next_steering()) {
      if (!follow(run, *word, notes)) return;
    }
    if (notes.empty()) break;
    if (auto word = run.wait_for_input("Shall I go on with " + notes.front().name + "?")) {
      if (!follow(run, *word, notes)) return;
    }
  }
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argc, char** argv) {
  agent::ServerOptions options{.address = argc > 1 ? argv[1] : "127.0.0.1:50051"};
  options.certificate_file = setting("NOTES_CERT");
  options.key_file = setting("NOTES_KEY");
  options.client_ca_file = setting("NOTES_CLIENT_CA");
  options.token = setting("NOTES_TOKEN");
  options.metrics_address = setting("NOTES_METRICS");
  return agent::serve(std::move(options), audit);
}
