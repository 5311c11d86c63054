#include "harness/model/scripted_model.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "harness/model/limits.h"
#include "harness/model/model_dialects.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

struct Dialect {
  std::string_view path_end;
  ModelRequest (*request)(const json::object&);
  ModelAnswer (*answer)(const ModelReply&, bool, AnswerNumber);
};

constexpr Dialect kDialects[] = {
    {"/chat/completions", chat_request, chat_answer},
    {"/responses", responses_request, responses_answer},
    {"/messages", messages_request, messages_answer},
    {":generateContent", generate_request, generate_answer},
    {":streamGenerateContent", generate_request, generate_answer},
};

bool wants_stream(std::string_view path, const json::object& body) {
  const json::value* stream = body.if_contains("stream");
  return path.ends_with(":streamGenerateContent") || (stream != nullptr && stream->is_bool() && stream->get_bool());
}

net::Response with_body(std::string content_type, std::string body) {
  net::Response response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

// Answers with the sizes that agents ask for before a request.
constexpr const char* kCounts = R"({"input_tokens":100,"totalTokens":100})";

}  // namespace

Result<std::unique_ptr<ScriptedModel>> ScriptedModel::listen() {
  std::unique_ptr<ScriptedModel> model(new ScriptedModel());
  net::ListenOptions options;
  options.address = "127.0.0.1:0";
  options.name = "model";
  options.max_caller_body_bytes = kMaxModelRequestBytes;
  auto server = net::HttpServer::listen(model->io_, std::move(options), *model, model->clock_, model->metrics_);
  if (!server) return fail(std::move(server.error()));
  model->server_ = *std::move(server);
  return model;
}

ScriptedModel::~ScriptedModel() {
  if (server_) server_->shutdown(0);
  server_.reset();
  io_.stop();
}

net::Admission ScriptedModel::admit(const net::Request& /*head*/) {
  net::Admission admission;
  admission.max_body_bytes = kMaxModelRequestBytes;
  return admission;
}

net::Response ScriptedModel::protocol_error(int status, std::string_view reason, std::string_view message) {
  net::Response response =
      with_body("application/json", json::serialize(json::object{{"error", {{"type", reason}, {"message", message}}}}));
  response.status = status;
  return response;
}

void ScriptedModel::handle(net::Request&& request, net::Responder responder) {
  responder.send(answer(request));
}

net::Response ScriptedModel::answer(const net::Request& request) {
  std::string_view path = request.path();
  if (path.ends_with("/count_tokens") || path.ends_with(":countTokens")) return with_body("application/json", kCounts);
  for (const Dialect& dialect : kDialects) {
    if (request.method != "POST" || !path.ends_with(dialect.path_end)) continue;
    boost::system::error_code problem;
    json::parse_options parsing;
    parsing.max_depth = kMaxModelRequestDepth;
    json::value body = json::parse(request.body, problem, {}, parsing);
    if (problem || !body.is_object()) return protocol_error(400, "bad_json", "the request is not a JSON object");
    ModelReply reply = reply_to(dialect.request(body.get_object()));
    ModelAnswer said = dialect.answer(reply, wants_stream(path, body.get_object()), ++asked_);
    return with_body(std::move(said.content_type), std::move(said.body));
  }
  return with_body("application/json", "{}");
}

}  // namespace shepherd::harness
