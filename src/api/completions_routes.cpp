// The endpoint that OpenAI's clients use: models, and stateless calls of them.
#include <array>
#include <memory>
#include <utility>

#include "api/completions_json.h"
#include "api/completions_reply.h"
#include "api/completions_request.h"
#include "api/handlers.h"
#include "api/limits.h"
#include "json/text.h"
#include "model/condense.h"
#include "model/limits.h"

namespace shepherd {
namespace {

void refuse_completion(Call& call, const Error& error) {
  call.fail(error, completion_status(error));
}

// Answers the call if there is no model.
bool without_any_model(Call& call) {
  if (call.parts().completions != nullptr) return false;
  refuse_completion(call, {ErrorCode::unavailable,
                           "no_model",
                           "No model is configured. Add one under `models:` in the configuration file, for example "
                           "`local: {type: openai, url: \"http://127.0.0.1:8000/v1\"}`, and start the server again.",
                           {}});
  return true;
}

// Who asks, as far as Open WebUI says it.
std::map<std::string, std::string> caller_labels(const net::Request& request) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kHeaders{{
      {"x-openwebui-chat-id", "openwebui-chat"},
      {"x-openwebui-user-id", "openwebui-user"},
      {"x-openwebui-user-name", "openwebui-user-name"},
      {"x-openwebui-user-email", "openwebui-user-email"},
      {"x-openwebui-user-role", "openwebui-user-role"},
  }};
  std::map<std::string, std::string> labels;
  for (const auto& [header, label] : kHeaders) {
    std::string_view value = request.header(header);
    if (!value.empty() && value.size() <= kMaxLabelBytes && is_utf8(value)) labels.emplace(label, value);
  }
  return labels;
}

void begin_completion(Call call) {
  auto body = read_completion(call.request().body);
  if (!body) return refuse_completion(call, body.error());
  CompletionRequest request;
  request.id = call.parts().completions->new_id();
  request.model = std::move(body->model);
  request.request = std::move(body->request);
  request.bytes = call.request().body.size();
  request.by = call.principal()->person;
  request.labels = caller_labels(call.request());
  CompletionShape shape{request.id, request.model, call.parts().clock.wall_ms() / 1'000, body->include_usage};
  net::EventLoop& loop = *call.parts().chat_loop;
  call.drop_request();
  std::shared_ptr<CompletionReply> reply;
  if (body->stream) {
    reply = std::make_shared<StreamedCompletion>(std::move(call), std::move(shape));
  } else {
    reply = std::make_shared<WholeCompletion>(std::move(call), std::move(shape));
  }
  loop.post([reply = std::move(reply), request = std::move(request)]() mutable { reply->begin(std::move(request)); });
}

}  // namespace

void list_completion_models(Call call) {
  if (without_any_model(call)) return;
  net::EventLoop& loop = *call.parts().chat_loop;
  loop.post([call = std::move(call)]() mutable {
    const Completions& completions = *call.parts().completions;
    call.send_json(200, completion_models_json(completions.models(), completions.created_ms() / 1'000));
  });
}

void get_completion_model(Call call) {
  if (without_any_model(call)) return;
  net::EventLoop& loop = *call.parts().chat_loop;
  loop.post([call = std::move(call)]() mutable {
    const Completions& completions = *call.parts().completions;
    std::string id = call.second().empty() ? call.id() : call.id() + "/" + call.second();
    auto model = completions.model(id);
    if (!model) return refuse_completion(call, model.error());
    call.send_json(200, completion_model_json(*model, completions.created_ms() / 1'000));
  });
}

void complete_chat(Call call) {
  if (without_any_model(call)) return;
  if (call.request().body.size() <= kInlineDecodeBytes) return begin_completion(std::move(call));
  Call::on_lane(&Lanes::intake, std::move(call), begin_completion);
}

}  // namespace shepherd
