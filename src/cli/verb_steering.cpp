// shepherd steer, queue, interrupt, resume, mode, approve, deny, answer, stop: sends an operator's command to a running
// agent and reports the result.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/random.h"
#include "cli/answer_words.h"
#include "cli/approval_view.h"
#include "cli/limits.h"
#include "cli/open_approvals.h"
#include "cli/task_names.h"
#include "cli/verbs.h"
#include "client/command_wait.h"
#include "json/scan.h"
#include "json/tree.h"
#include "json/write.h"
#include "model/limits.h"
#include "outbox/limits.h"
#include "terminal/line_input.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

struct SteeringOptions {
  ServerOptions server;
  std::string task;
  std::vector<std::string> words;  // the text; for approve, deny and answer also the approval
  std::string reason, message, input, remember, option, mode, expires;
  bool json = false, no_wait = false;
  bool external = false;  // the task has no agent
};

Result<std::string> text_of(const SteeringOptions& options) {
  if (options.words.size() != 1 || options.words.front() != "-") {
    return fmt::format("{}", fmt::join(options.words, " "));
  }
  LineInput input(STDIN_FILENO);
  std::string text;
  while (true) {
    Result<std::vector<std::string>> lines = input.next(kPostLines, kMaxCommandBytes);
    if (!lines) return fail(lines.error());
    if (lines->empty()) break;
    for (const std::string& line : *lines) text.append(text.empty() ? "" : "\n").append(line);
    if (text.size() > kMaxCommandBytes) {
      return fail(ErrorCode::too_large, "too_long", fmt::format("more than {} bytes", kMaxCommandBytes));
    }
  }
  return text;
}

// The data of the approval's event.
Result<std::string> asking_data(ApiClient& client, const SteeringOptions& options, const OpenApproval& approval) {
  Result<LogPage> page =
      client.events(options.task, {{"after", std::to_string(approval.sequence - 1)}, {"limit", "1"}});
  if (!page) return fail(page.error());
  return page->events.empty() ? std::string() : std::string(find_member(page->events.front(), "data"));
}

// Shows what is about to be decided, to the last character.
void show_decision(Context& context, const SteeringOptions& options, ApiClient& client, const OpenApproval& approval,
                   CommandKind kind) {
  if (options.json) return;
  Output& out = context.err;
  std::string_view doing = kind == CommandKind::approve ? "approving" : "denying";
  out.line(
      fmt::format("{} {}", doing, exact_text(approval.tool.empty() ? approval.summary : approval.tool, Lines::join)));
  Result<AskedInput> input = asked_input(client, options.task, approval.sequence);
  if (input && !options.input.empty()) input = AskedInput{options.input, true};
  std::size_t columns = out.is_terminal() && out.columns() > 2 ? out.columns() - 2 : 0;
  if (input) {
    for (const std::string& line : asked_lines(*input, columns)) out.line("  " + line);
  }
  out.flush();
}

// For approve and deny the only optional argument is the approval's id.
Result<void> fill_decision(Context& context, const SteeringOptions& options, const TaskView& task, ApiClient& client,
                           Command& command) {
  if (options.words.size() > 1) {
    return fail(ErrorCode::invalid_argument, "too_many_words",
                fmt::format("what is \"{}\"? A word to the agent goes into --message", options.words.back()));
  }
  Result<OpenApproval> approval =
      choose_approval(open_approvals(task.json), options.words.empty() ? "" : options.words.front());
  if (!approval) return fail(approval.error());
  Result<boost::json::value> input = parse_tree(options.input.empty() ? "{}" : options.input);
  if (!input || !input->is_object()) {
    return fail(ErrorCode::invalid_argument, "bad_input",
                "--input is not a JSON object; e.g. --input '{\"command\":\"npm test\"}'");
  }
  show_decision(context, options, client, *approval, command.kind);
  command.approval_id = approval->id;
  command.message = options.message;
  command.remember = options.remember;
  command.option = options.option;
  command.input_json = options.input;
  return {};
}

Result<void> fill_answer(const SteeringOptions& options, const TaskView& task, ApiClient& client, Command& command) {
  std::vector<OpenApproval> open;
  for (OpenApproval& each : open_approvals(task.json)) {
    if (each.kind.empty() || each.kind == "question") open.push_back(std::move(each));
  }
  std::vector<std::string> words = options.words;
  std::string id;
  // The first word is an approval if it names one, otherwise an answer.
  if (words.size() > 1 && words.front().find('=') == std::string::npos && choose_approval(open, words.front())) {
    id = words.front();
    words.erase(words.begin());
  }
  Result<OpenApproval> approval = choose_approval(open, id);
  if (!approval) return fail(approval.error());
  Result<std::string> data = asking_data(client, options, *approval);
  if (!data) return fail(data.error());
  Result<std::string> answers = answers_json(asked_questions(*data), words);
  if (!answers) return fail(answers.error());
  command.approval_id = approval->id;
  command.answers_json = *std::move(answers);
  return {};
}

Result<Command> make_command(Context& context, CommandKind kind, const SteeringOptions& options, const TaskView& task,
                             ApiClient& client, Random& random) {
  Command command;
  command.kind = kind;
  command.id = "cli-" + make_sortable_id(SystemClock().wall_ms(), random);
  command.reason = options.reason;
  if (!options.expires.empty()) {
    Result<std::int64_t> seconds = parse_span_seconds(options.expires);
    if (!seconds) return fail(seconds.error());
    command.expires_seconds = *seconds;
  }
  Result<void> filled;
  switch (kind) {
    case CommandKind::steer:
    case CommandKind::queue:
    case CommandKind::resume: {
      Result<std::string> text = text_of(options);
      if (!text) return fail(text.error());
      (kind == CommandKind::resume ? command.guidance : command.content) = *std::move(text);
      break;
    }
    case CommandKind::set_mode:
      command.mode = agent_mode(options.mode).value_or(AgentMode::interactive);
      break;
    case CommandKind::approve:
    case CommandKind::deny:
      filled = fill_decision(context, options, task, client, command);
      break;
    case CommandKind::answer:
      filled = fill_answer(options, task, client, command);
      break;
    case CommandKind::interrupt:
    case CommandKind::stop:
      break;
  }
  if (!filled) return fail(filled.error());
  // Applies the server's rules here, to refuse a bad command early.
  Result<Command> checked = decode_command(encode_command(command));
  if (!checked) return fail(checked.error());
  return command;
}

// Explains a refusal's reason to a person who has never seen it.
std::string explained(const std::string& reason, std::string_view task, bool external) {
  if (reason == "no_runner" && external) {
    return fmt::format(
        "no runner has this task: it has no agent, its events are posted; \"shepherd post {} --state cancelled\" ends "
        "it",
        task);
  }
  if (reason == "no_runner") return fmt::format("no runner has this task now (see \"shepherd tasks show {}\")", task);
  if (reason == "unsupported") return "this agent cannot do that";
  if (reason == "already_answered") return "it was already answered";
  if (reason == "task_ended") return "the task has ended";
  return reason;
}

// Waits for the result of a stop, because accepting the command is not the end yet.
std::string stop_outcome(ApiClient& client, const TaskView& before, const Clock& clock) {
  std::int64_t until_ms = clock.steady_ms() + kStopWait.count();
  while (true) {
    Result<TaskView> now = client.task(before.id);
    if (!now) return "stopping; what became of it cannot be read: " + now.error().message;
    bool begun =
        before.state != "queued" && !(before.state == "starting" && now->message.starts_with("stopped before"));
    if (now->ended()) {
      if (!begun) return "cancelled before a runner began to work on it";
      return fmt::format("stopped: the agent and its processes are gone, the task is {}", now->state);
    }
    if (clock.steady_ms() > until_ms) {
      return fmt::format("the agent was asked to stop but has not ended yet; follow it: shepherd watch {}", before.id);
    }
    std::this_thread::sleep_for(kStopLook);
  }
}

ExitCode tell(Context& context, const SteeringOptions& options, const Command& command, std::uint64_t sequence,
              const Settled& settled, const std::string& outcome = {}) {
  if (options.json) {
    std::string line = object_text([&](JsonObject& object) {
      object.text("id", command.id);
      object.text("kind", name(command.kind));
      object.text("state", name(settled.state));
      object.text_unless_empty("reason", settled.reason);
      object.number("sequence", sequence);
    });
    context.out.json_line(line);
  }
  std::string why = explained(settled.reason, options.task, options.external);
  switch (settled.state) {
    case CommandState::acknowledged:
    case CommandState::delivered:
      if (!options.json) {
        context.out.line(!outcome.empty()                              ? exact_text(outcome, Lines::join)
                         : settled.state == CommandState::acknowledged ? "acknowledged: the agent took it up"
                                                                       : "delivered to the agent");
      }
      return ExitCode::ok;
    case CommandState::refused:
      if (!options.json) context.complain(why.empty() ? "refused" : "refused: " + why);
      return ExitCode::command_refused;
    case CommandState::expired:
      if (!options.json) context.complain("expired: no runner took it in time");
      return ExitCode::command_expired;
    case CommandState::accepted:
      break;
  }
  if (options.no_wait || !settled.reason.empty()) {
    if (!options.json) {
      context.out.line(fmt::format("accepted as {}{}{}", command.id, why.empty() ? "" : ": ", why));
    }
    return ExitCode::ok;
  }
  if (!options.json) context.complain(settled.task_ended ? "the task ended before it was taken" : "no result in time");
  return ExitCode::command_expired;
}

Result<ExitCode> send(Context& context, SteeringOptions& options, CommandKind kind) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<TaskView> task = find_task(*client, options.task);
  if (!task) return fail(task.error());
  options.task = task->id;
  options.external = task->agent.empty();
  if (task->ended()) {
    return fail(ErrorCode::conflict, "task_ended",
                fmt::format("{} has ended already: it is {}", task->id, task->state));
  }
  SystemClock clock;
  SystemRandom random;
  Result<Command> command = make_command(context, kind, options, *task, *client, random);
  if (!command) return fail(command.error());
  Result<AcceptedCommand> accepted = client->post_command(options.task, encode_command(*command));
  if (!accepted) return fail(accepted.error());
  if (options.no_wait) return tell(context, options, *command, accepted->sequence, {});
  CommandWait wait{.task = options.task,
                   .id = accepted->id,
                   .sequence = accepted->sequence,
                   .kind = kind,
                   .acknowledged_later = acknowledges(task->json, kind),
                   .most = std::chrono::seconds(command->expires_seconds) + kSettleSlack};
  Result<Settled> settled = wait_for_command([&] { return locate_server(context, options.server); }, wait, clock,
                                             random, options.server.tls());
  if (!settled) return fail(settled.error());
  bool stopping = kind == CommandKind::stop && (settled->state == CommandState::acknowledged ||
                                                settled->state == CommandState::delivered || settled->task_ended);
  if (stopping && settled->state == CommandState::accepted) settled->state = CommandState::delivered;
  return tell(context, options, *command, accepted->sequence, *settled,
              stopping ? stop_outcome(*client, *task, clock) : "");
}

struct SteeringVerb {
  const char* word;
  CommandKind kind;
  const char* help;
  const char* examples;
};

constexpr SteeringVerb kVerbs[] = {
    {"steer", CommandKind::steer, "Send a message to the agent while it works",
     "  shepherd steer TASK \"look at the tests first\"\n  shepherd steer TASK - < remarks.txt"},
    {"queue", CommandKind::queue, "Send a message for after the current turn",
     "  shepherd queue TASK \"then update the changelog\""},
    {"interrupt", CommandKind::interrupt, "Interrupt the agent's current turn; it stays ready",
     "  shepherd interrupt TASK --reason \"wrong branch\""},
    {"resume", CommandKind::resume, "Resume an interrupted or paused agent",
     "  shepherd resume TASK\n  shepherd resume TASK \"use the other database\""},
    {"mode", CommandKind::set_mode, "Let the agent decide by itself, or ask you", "  shepherd mode TASK interactive"},
    {"approve", CommandKind::approve, "Approve the pending request",
     "  shepherd approve TASK\n  shepherd approve TASK --input '{\"command\":\"npm test\"}'\n"
     "  shepherd approve TASK --remember \"Bash(npm test)\""},
    {"deny", CommandKind::deny, "Deny the pending request", "  shepherd deny TASK --message \"not on a Friday\""},
    {"answer", CommandKind::answer, "Answer the agent's questions",
     "  shepherd answer TASK Blue\n  shepherd answer TASK 1=Blue 2=\"the second file\"\n"
     "  shepherd answer TASK Colour=Blue"},
    {"stop", CommandKind::stop, "Stop the agent and all its processes",
     "  shepherd stop TASK --reason \"no longer needed\""},
};

void add_words(CLI::App& command, CommandKind kind, SteeringOptions& options) {
  switch (kind) {
    case CommandKind::steer:
    case CommandKind::queue:
      command.add_option("TEXT", options.words, "The message; - reads it from standard input")->required();
      break;
    case CommandKind::resume:
      command.add_option("GUIDANCE", options.words, "Optional guidance; - reads it from standard input");
      break;
    case CommandKind::set_mode:
      command.add_option("MODE", options.mode, "autonomous or interactive")
          ->required()
          ->check(CLI::IsMember({"autonomous", "interactive"}));
      break;
    case CommandKind::approve:
      command.add_option("--input", options.input, "Run the tool with this input instead (a JSON object)");
      [[fallthrough]];
    case CommandKind::deny:
      command.add_option("APPROVAL", options.words, "Approval id or unique prefix (optional if only one is open)");
      command.add_option("--message", options.message, "Message to the agent");
      command.add_option("--remember", options.remember, "Apply the same decision to this rule from now on");
      command.add_option("--option", options.option, "One of the ways that the agent offers, by its id or its name");
      break;
    case CommandKind::answer:
      command.add_option("ANSWER", options.words, "QUESTION=ANSWER, the question by number, header or text")
          ->required();
      break;
    case CommandKind::interrupt:
    case CommandKind::stop:
      command.add_option("--reason", options.reason, "Reason, for the log");
      break;
  }
}

}  // namespace

void add_steering_verbs(CLI::App& app, Context& context) {
  for (const SteeringVerb& verb : kVerbs) {
    auto options = std::make_shared<SteeringOptions>();
    CLI::App* command = app.add_subcommand(verb.word, verb.help);
    command->add_option("TASK", options->task, kTaskHelp)->required();
    add_words(*command, verb.kind, *options);
    command->add_option("--expires", options->expires,
                        "Give up if it is not taken within this time, e.g. 5m (default 60s)");
    command->add_flag("--no-wait", options->no_wait, "Do not wait for the outcome");
    command->add_flag("--json", options->json, "The outcome as JSON");
    add_server_options(*command, options->server);
    command->footer(
        std::string("Exit code 0: the agent has it; 10: refused; 11: no runner took it in time.\n\nExamples:\n") +
        verb.examples);
    command->callback([options, &context, kind = verb.kind] {
      context.action = [options, &context, kind] { return send(context, *options, kind); };
    });
  }
}

}  // namespace shepherd
