#include "chat/completions.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/ids.h"
#include "chat/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kWithTools = "+tools";

}  // namespace

Completions::Completions(CompletionsParts parts, const ChatConfig& config)
    : parts_(std::move(parts)), config_(config), created_ms_(parts_.log.clock.wall_ms()) {}

Completions::~Completions() = default;

Result<void> Completions::start() {
  return end_open_api_calls(parts_.log);
}

void Completions::stop() {
  std::promise<void> ended;
  parts_.log.loop.post([&] {
    stopped_ = true;
    while (!running_.empty()) {
      running_.begin()->second.run->end({ErrorCode::unavailable, "shutting_down", "The server is shutting down.", {}});
    }
    ended.set_value();
  });
  ended.get_future().wait();
}

std::string Completions::new_id() {
  return "chatcmpl-" + make_sortable_id(parts_.log.clock.wall_ms(), parts_.random);
}

// --- models ---

bool Completions::has_tools() const {
  if (parts_.tools == nullptr) return false;
  return std::ranges::any_of(parts_.tools->tools(),
                             [&](const Tool& tool) { return usable_unasked(tool, config_.allow); });
}

std::vector<CompletionModel> Completions::models() const {
  std::vector<CompletionModel> all;
  ModelFacts facts = parts_.chat.facts();
  bool taken = std::ranges::any_of(parts_.models, [&](const Model* each) { return each->name() == facts.model; });
  if (!facts.model.empty() && !taken) all.push_back({facts.model, facts});
  for (const Model* each : parts_.models) all.push_back({each->name(), each->facts()});
  if (!has_tools()) return all;
  std::size_t plain = all.size();
  for (std::size_t at = 0; at < plain; ++at) {
    all.push_back({all[at].id + std::string(kWithTools), all[at].facts});
  }
  return all;
}

Model* Completions::named(std::string_view id) const {
  for (Model* each : parts_.models) {
    if (each->name() == id) return each;
  }
  // A client keeps the id that it once saw, whichever backend of the list works now.
  for (const Model* each : parts_.listed) {
    if (!id.empty() && each->facts().model == id) return &parts_.chat;
  }
  return nullptr;
}

Result<Completions::Chosen> Completions::choose(std::string_view id) const {
  if (Model* found = named(id); found != nullptr) return Chosen{found, false};
  auto missing = [](std::string message) {
    return fail(
        Error{ErrorCode::not_found, "model_not_found", std::move(message), {}}.with("member", std::string("model")));
  };
  Model* base = id.ends_with(kWithTools) ? named(id.substr(0, id.size() - kWithTools.size())) : nullptr;
  if (base != nullptr && has_tools()) return Chosen{base, true};
  if (base != nullptr) {
    return missing("The model \"" + std::string(id) +
                   "\" is not there: the server has no tools that need no approval. Configure some, or list them in "
                   "chat.allow.");
  }
  return missing("There is no model \"" + std::string(id) + "\". GET /v1/models lists those that there are.");
}

Result<CompletionModel> Completions::model(std::string_view id) const {
  auto chosen = choose(id);
  if (!chosen) return fail(chosen.error());
  return CompletionModel{std::string(id), chosen->model->facts()};
}

// --- calls ---

void Completions::begin(CompletionRequest request, std::shared_ptr<CompletionObserver> observer) {
  if (stopped_) {
    return observer->on_end(fail(ErrorCode::unavailable, "shutting_down", "The server is shutting down."));
  }
  if (running_.size() >= kMaxParallelCompletions || held_bytes_ + request.bytes > kMaxHeldRequestBytes) {
    return observer->on_end(fail(ErrorCode::rate_limited, "too_many_calls",
                                 "The server has as many calls as it takes. Try again in a moment."));
  }
  auto chosen = choose(request.model);
  if (!chosen) return observer->on_end(fail(chosen.error()));
  std::shared_ptr<CompletionLog> log;
  if (config_.log_api_calls) {
    log = std::make_shared<CompletionLog>(parts_.log, request.id);
    log->begin(request, chosen->model->facts(), chosen->model->name());
  }
  std::string id = request.id;
  std::size_t bytes = request.bytes;
  CompletionParts parts{
      config_,     parts_.log.clock, *chosen->model, chosen->tools ? parts_.tools : nullptr, parts_.log.redactor,
      parts_.price};
  CompletionObserver& told = *observer;
  auto run = std::make_unique<CompletionRun>(std::move(parts), std::move(request), told, std::move(log),
                                             [this, id](Result<CompletionEnd> end) { remove(id, &end); });
  CompletionRun& begun = *run;
  running_[id] = {std::move(observer), std::move(run), bytes};
  held_bytes_ += bytes;
  begun.begin();
}

void Completions::cancel(const std::string& id) {
  remove(id, nullptr);
}

// Without an end the observer is not called.
void Completions::remove(const std::string& id, Result<CompletionEnd>* end) {
  auto removed = running_.extract(id);
  if (removed.empty()) return;
  held_bytes_ -= removed.mapped().bytes;
  if (end != nullptr) removed.mapped().observer->on_end(std::move(*end));
}

}  // namespace shepherd
