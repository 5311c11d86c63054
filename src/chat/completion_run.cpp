#include "chat/completion_run.h"

#include <algorithm>
#include <utility>

#include "chat/limits.h"
#include "chat/tool_images.h"

namespace shepherd {

CompletionRun::CompletionRun(CompletionParts parts, CompletionRequest request, CompletionObserver& observer,
                             std::shared_ptr<CompletionLog> log,
                             std::move_only_function<void(Result<CompletionEnd>)> done)
    : parts_(std::move(parts)),
      request_(std::move(request)),
      observer_(observer),
      log_(std::move(log)),
      done_(std::move(done)) {
  end_.usage.known = true;
  end_.cost = 0;
}

CompletionRun::~CompletionRun() {
  if (!over_ && log_) log_->cancelled();
}

void CompletionRun::begin() {
  if (parts_.tools != nullptr) {
    tools_.emplace(*parts_.tools, parts_.config.allow, request_.request.tools);
    for (const ToolDefinition& tool : tools_->definitions()) request_.request.tools.push_back(tool);
  }
  call_model();
}

void CompletionRun::call_model() {
  if (++steps_ > parts_.config.max_turn_steps) {
    return finish(fail(ErrorCode::unavailable, "too_many_steps",
                       "The model used tools in " + std::to_string(parts_.config.max_turn_steps) +
                           " calls without an answer. Ask again, or raise chat.max_turn_steps."));
  }
  said_before_ = said_before_ || said_;
  said_ = false;
  call_ = parts_.model.start(tools_ ? request_.request : std::move(request_.request), *this);
}

void CompletionRun::on_text(std::string_view piece) {
  // The words before a tool's use and those behind it are paragraphs.
  bool separate = said_before_ && !said_;
  said_ = true;
  if (separate) {
    std::string apart = "\n\n";
    apart += piece;
    return observer_.on_text(apart);
  }
  observer_.on_text(piece);
}

void CompletionRun::on_reasoning(std::string_view piece) {
  observer_.on_reasoning(piece);
}

void CompletionRun::on_retry(std::string_view why) {
  if (log_) log_->remark(why);
}

void CompletionRun::count(const ModelAnswer& answer) {
  ModelUsage& sum = end_.usage;
  sum.known = sum.known && answer.usage.known;
  sum.input += answer.usage.input;
  sum.output += answer.usage.output;
  sum.cache_read += answer.usage.cache_read;
  sum.cache_write += answer.usage.cache_write;
  sum.reasoning += answer.usage.reasoning;
  std::optional<double> cost = cost_of(parts_.price(answer.backend), answer.usage);
  if (!cost) {
    end_.cost.reset();
  } else if (end_.cost) {
    *end_.cost += *cost;
  }
  if (!answer.reasoning.empty() && !end_.reasoning.empty()) end_.reasoning += "\n\n";
  end_.reasoning += answer.reasoning;
}

void CompletionRun::on_end(Result<ModelAnswer> answer) {
  auto call = std::move(call_);
  if (!answer) return finish(fail(std::move(answer.error())));
  count(*answer);
  bool clients = std::ranges::any_of(answer->tool_calls,
                                     [&](const ToolRequest& each) { return tools_ && tools_->is_clients(each.name); });
  bool final = !tools_ || answer->tool_calls.empty() || clients;
  if (clients)
    std::erase_if(answer->tool_calls, [&](const ToolRequest& each) { return !tools_->is_clients(each.name); });
  if (log_) log_->answered(*answer, end_.cost, final);
  if (final) return answered(*std::move(answer));
  take_calls(*std::move(answer));
}

void CompletionRun::answered(ModelAnswer answer) {
  end_.text = std::move(answer.text);
  end_.tool_calls = std::move(answer.tool_calls);
  end_.finish = answer.finish;
  finish(std::move(end_));
}

// --- tools of the server ---

void CompletionRun::take_calls(ModelAnswer answer) {
  cut_off_ = answer.finish == Finish::length;
  calls_.assign(answer.tool_calls.begin(), answer.tool_calls.end());
  ModelMessage message;
  message.role = Role::assistant;
  message.content = std::move(answer.text);
  message.reasoning = std::move(answer.reasoning);
  message.reasoning_state = std::move(answer.reasoning_state);
  message.tool_calls = std::move(answer.tool_calls);
  request_.request.messages.push_back(std::move(message));
  // A choice that forces a tool was met; forced again and again the model could never answer.
  if (request_.request.tool_choice != R"("none")") request_.request.tool_choice.clear();
  next_tool();
}

void CompletionRun::next_tool() {
  while (!calls_.empty()) {
    const ToolRequest& call = calls_.front();
    std::string refusal =
        cut_off_ ? "Error: the call was cut off by the token limit and did not run." : tools_->refusal(call);
    if (log_) log_->tool_called(call, tools_->describe(call));
    tool_began_ms_ = parts_.clock.steady_ms();
    if (refusal.empty()) return run_tool(tools_->own(call));
    ToolOutcome outcome;
    outcome.content = std::move(refusal);
    if (log_) log_->tool_ended(call, outcome, 0);
    add_result(call, std::move(outcome.content), true);
    calls_.pop_front();
  }
  call_model();
}

void CompletionRun::run_tool(const ToolRequest& call) {
  run_ = parts_.tools->start({request_.id, call.id, call.name, call.arguments},
                             [this](const ToolOutcome& outcome) { tool_ended(outcome); }, {});
  observer_.on_tool(call.name);
}

void CompletionRun::tool_ended(const ToolOutcome& outcome) {
  auto run = std::move(run_);
  ToolRequest call = std::move(calls_.front());
  calls_.pop_front();
  if (log_) log_->tool_ended(call, outcome, parts_.clock.steady_ms() - tool_began_ms_);
  bool redacts = parts_.redactor != nullptr && parts_.redactor->may_match(outcome.content);
  add_result(call, redacts ? parts_.redactor->redact(outcome.content) : outcome.content, !outcome.success,
             outcome.images);
  next_tool();
}

void CompletionRun::add_result(const ToolRequest& call, std::string content, bool failed,
                               std::vector<ModelImage> images) {
  ModelMessage message;
  message.role = Role::tool;
  message.content = std::move(content);
  message.tool_call_id = call.id;
  message.tool_name = call.name;
  message.failed = failed;
  attach_images(message, std::move(images));
  request_.request.messages.push_back(std::move(message));
  std::vector<ModelMessage*> all;
  all.reserve(request_.request.messages.size());
  for (ModelMessage& each : request_.request.messages) all.push_back(&each);
  bound_images(all);
}

void CompletionRun::end(Error why) {
  call_.reset();
  run_.reset();
  finish(fail(std::move(why)));
}

void CompletionRun::finish(Result<CompletionEnd> end) {
  over_ = true;
  if (log_) log_->ended(end);
  auto done = std::move(done_);
  done(std::move(end));
}

}  // namespace shepherd
