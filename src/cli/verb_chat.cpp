// shepherd chat: a conversation with a model, at a terminal or from a script.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "cli/chat_ask.h"
#include "cli/chat_talk.h"
#include "cli/verbs.h"
#include "terminal/byte_input.h"
#include "terminal/limits.h"

namespace shepherd {
namespace {

struct ChatWords {
  ChatOptions options;
  std::vector<std::string> prompt;
  std::string key_file;
  bool no_history = false;
};

Result<std::string> piped_prompt() {
  Result<ByteInput> input = ByteInput::open("-");
  if (!input) return fail(input.error());
  std::string text;
  while (true) {
    Result<std::string_view> piece = input->next();
    if (!piece) return fail(piece.error());
    if (piece->empty()) break;
    text.append(*piece);
    if (text.size() > kMaxTypedBytes) {
      return fail(ErrorCode::too_large, "prompt_too_large",
                  fmt::format("the prompt is longer than {} bytes; put long texts into a file", kMaxTypedBytes));
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The words with standard input in the place of "-". Without words it is the input, unless that is a terminal.
Result<std::string> prompt_of(const ChatWords& words) {
  if (words.prompt.empty()) return isatty(STDIN_FILENO) == 1 ? std::string() : piped_prompt();
  std::string prompt;
  for (const std::string& word : words.prompt) {
    bool input = word == "-";
    if (!prompt.empty()) prompt += input ? "\n\n" : " ";
    if (!input) {
      prompt += word;
      continue;
    }
    Result<std::string> text = piped_prompt();
    if (!text) return text;
    prompt += *text;
  }
  return prompt;
}

Result<ExitCode> chat(Context& context, ChatWords& words) {
  ChatOptions& options = words.options;
  std::string key;
  if (!words.key_file.empty()) {
    Result<std::string> line = read_first_line(words.key_file);
    if (!line) return fail(line.error());
    key = *std::move(line);
    if (key.empty()) {
      return fail(ErrorCode::invalid_argument, "no_key", fmt::format("{} is missing or empty", words.key_file));
    }
  }
  options.locate = [&context, &options, key]() -> Result<Destination> {
    Result<Destination> found = locate_server(context, options.server);
    if (found && !key.empty()) found->token = key;
    return found;
  };
  options.history = !words.no_history;
  Result<std::string> prompt = prompt_of(words);
  if (!prompt) return fail(prompt.error());
  options.prompt = *std::move(prompt);
  bool terminal = context.out.is_terminal() && !options.json && context.environment("TERM") != "dumb";
  if (terminal && (isatty(STDIN_FILENO) == 1 || !options.prompt.empty())) {
    context.out.flush();
    return ChatTalk(context, options).run();
  }
  if (options.prompt.empty()) {
    return fail(ErrorCode::invalid_argument, "no_prompt",
                "there is no prompt; give one, write it to standard input, or use a terminal without --json");
  }
  return ask_chat(context, options);
}

}  // namespace

void add_chat_verb(CLI::App& app, Context& context) {
  auto words = std::make_shared<ChatWords>();
  ChatOptions& options = words->options;
  CLI::App* command = app.add_subcommand("chat", "Talk to a model through the server");
  command->add_option("PROMPT", words->prompt, "What to ask; - is standard input; without it, a conversation");
  command->add_option("-s,--session", options.session, "Session; without it, the server's default one");
  command->add_option("--max-tokens", options.max_tokens, "Tokens of an answer: 0 a share of the context, -1 all")
      ->check(CLI::Range(-1, 100'000'000));
  command->add_flag("--json", options.json, "The turn's events as JSON, one per line");
  command->add_flag("--no-history", words->no_history, "Neither read nor keep the lines that are typed");
  command->add_option("--key-file", words->key_file, "File with the server's key, instead of SHEPHERD_TOKEN")
      ->group("Connection");
  add_server_options(*command, options.server);
  command->footer(
      "On a terminal the answer streams as formatted text; /help lists the commands of a conversation.\n"
      "Elsewhere the answer is printed when it is complete, as the model wrote it.\n"
      "--url is this server or another one with the same chat protocol (docs/chat.md).\n"
      "Exit code 0 when the turn is complete, 1 when it failed, 9 when it was cancelled.\n\n"
      "Examples:\n  shepherd chat\n  shepherd chat -s notes\n  shepherd chat \"What does EAGAIN mean?\"\n"
      "  git diff | shepherd chat \"Review this:\" -\n"
      "  shepherd chat --url http://box:8000 --key-file box.key \"Who are you?\"");
  command->callback([words, &context] { context.action = [words, &context] { return chat(context, *words); }; });
}

}  // namespace shepherd
