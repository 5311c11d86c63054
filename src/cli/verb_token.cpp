// shepherd token: manages access tokens.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <memory>
#include <string>

#include "cli/verbs.h"
#include "json/scan.h"
#include "json/tree.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"
#include "terminal/text_table.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct TokenOptions {
  ServerOptions server;
  TokenRequest request;
  std::string expires, id, whose;
  bool json = false;
};

std::string shown_member(const json::object& object, std::string_view name) {
  return terminal_text(text_member(object, name), Lines::join);
}

json::object parse_object(std::string_view source) {
  boost::system::error_code error;
  json::value value = json::parse(source, error);
  return !error && value.is_object() ? std::move(value.get_object()) : json::object();
}

Result<ExitCode> create(Context& context, TokenOptions& options) {
  if (!options.expires.empty()) {
    Result<std::int64_t> seconds = parse_span_seconds(options.expires);
    if (!seconds) return fail(seconds.error());
    options.request.expires_seconds = *seconds;
  }
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<std::string> answer = client->create_token(options.request);
  if (!answer) return fail(answer.error());
  if (options.json) {
    context.out.json_line(*answer);
    return ExitCode::ok;
  }
  // Prints only the secret on standard output, so that SHEPHERD_TOKEN=$(shepherd token create …) works.
  json::object token = parse_object(*answer);
  context.out.line(shown_member(token, "secret"));
  context.out.flush();
  if (context.out.is_terminal()) {
    context.err.line(context.err.paint(
        Color::dim, fmt::format("shown once; give it to {} as SHEPHERD_TOKEN. Revoke it: shepherd token revoke {}",
                                terminal_text(options.request.name, Lines::join), shown_member(token, "id"))));
  }
  return ExitCode::ok;
}

Result<ExitCode> list(Context& context, const TokenOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<std::string> answer = client->tokens();
  if (!answer) return fail(answer.error());
  auto elements = array_elements(*answer);
  if (!elements) return fail(ErrorCode::internal, "bad_response", "the server's answer is not a list of tokens");
  TextTable table({{"ID"}, {"KIND"}, {"SCOPE"}, {"TASK"}, {"CREATED"}, {"EXPIRES"}, {"NAME"}});
  for (std::string_view element : *elements) {
    if (options.json) {
      context.out.json_line(element);
      continue;
    }
    json::object token = parse_object(element);
    auto or_dash = [&](std::string_view name) {
      std::string text = shown_member(token, name);
      return text.empty() ? std::string("-") : text;
    };
    auto day = [&](std::string_view name) { return or_dash(name).substr(0, 10); };
    const json::value* session = token.if_contains("session");
    std::string kind = session != nullptr && session->is_bool() && session->get_bool() ? "session" : "token";
    if (std::string parent = shown_member(token, "sessionOf"); !parent.empty()) kind += " of " + parent;
    table.add({{shown_member(token, "id"), Color::bold},
               {kind},
               {shown_member(token, "scope")},
               {or_dash("task")},
               {day("createdAt")},
               {day("expiresAt")},
               {shown_member(token, "name")}});
  }
  if (!options.json) table.print(context.out);
  return ExitCode::ok;
}

Result<ExitCode> revoke(Context& context, const TokenOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  if (Result<void> done = client->revoke_token(options.id); !done) return fail(done.error());
  if (context.out.is_terminal()) context.out.line("Revoked; its live streams are cut.");
  return ExitCode::ok;
}

Result<ExitCode> login_link(Context& context, const TokenOptions& options) {
  Result<ApiClient> client = connect_server(context, options.server);
  if (!client) return fail(client.error());
  Result<std::string> link = client->login_link(options.whose);
  if (!link) return fail(link.error());
  context.out.line(terminal_text(*link, Lines::join));
  return ExitCode::ok;
}

}  // namespace

void add_token_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* token = app.add_subcommand("token", "Create, list and revoke tokens; sign in a browser");
  token->require_subcommand(1);
  token->footer("Examples:\n  shepherd token create ann --scope operator\n  shepherd token login-link");

  CLI::App* make = token->add_subcommand("create", "Create a token and print it once");
  make->add_option("NAME", options->request.name, "The person or program that will use it")->required();
  options->request.scope = "viewer";
  make->add_option("--scope", options->request.scope,
                   "viewer sees; operator also commands; producer posts events; admin everything")
      ->check(CLI::IsMember({"viewer", "operator", "producer", "admin"}))
      ->capture_default_str();
  make->add_option("--task", options->request.task, "Only this task (producer)");
  make->add_option("--expires", options->expires, "Valid for this long: 12h, 30d (default: a year)");
  make->add_flag("--json", options->json, "Print id and token as JSON");
  add_server_options(*make, options->server);
  make->footer("Example:\n  export SHEPHERD_TOKEN=$(shepherd token create ci --scope producer --expires 30d)");
  make->callback([options, &context] { context.action = [options, &context] { return create(context, *options); }; });

  CLI::App* all = token->add_subcommand("list", "List tokens (never their secrets)");
  all->add_flag("--json", options->json, "One JSON object per line");
  add_server_options(*all, options->server);
  all->footer("Example:\n  shepherd token list");
  all->callback([options, &context] { context.action = [options, &context] { return list(context, *options); }; });

  CLI::App* cut =
      token->add_subcommand("revoke", "Revoke a token and its browser sessions, and cut their live streams");
  cut->add_option("ID", options->id, "The token's id, from \"shepherd token list\"")->required();
  add_server_options(*cut, options->server);
  cut->footer("Example:\n  shepherd token revoke 01jd2x…");
  cut->callback([options, &context] { context.action = [options, &context] { return revoke(context, *options); }; });

  CLI::App* link = token->add_subcommand("login-link", "Print a link that signs a browser in, once, within 15 minutes");
  link->add_option("--for", options->whose, "Sign in the token of this name or id instead of your own (admins)");
  add_server_options(*link, options->server);
  link->footer("Example:\n  xdg-open \"$(shepherd token login-link)\"\n  shepherd token login-link --for ann");
  link->callback(
      [options, &context] { context.action = [options, &context] { return login_link(context, *options); }; });
}

}  // namespace shepherd
