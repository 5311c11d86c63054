#include "driver/grpc/grpc_agent.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "driver/grpc/limits.h"
#include "driver/grpc/record.h"
#include "driver/grpc/record_frames.h"
#include "driver/grpc/start_message.h"
#include "driver/grpc/typed_record.h"
#include "gibson/agent.pb.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::string_view kMethod = "/gibson.agent.AgentService/StreamExecute";

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? " " + std::to_string(first) : "s " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

GrpcAgent::GrpcAgent() : message_(std::make_unique<gibson::agent::AgentMessage>()) {}
GrpcAgent::~GrpcAgent() = default;

Result<LaunchPlan> GrpcAgent::launch(const Launch& launch) {
  if (launch.prompt.empty()) return fail(ErrorCode::invalid_argument, "no_prompt", "say what the agent is to do");
  if (!launch.resume_session.empty()) {
    return fail(ErrorCode::invalid_argument, "cannot_resume",
                "a streaming agent cannot go on with an earlier conversation; give it the context instead");
  }
  choose_dialect(launch.options);
  LaunchPlan plan;
  plan.way = GrpcLaunch{std::string(kMethod)};
  append_frame(plan.input, start_message(launch, dialect_));
  plan.keep_input_open = true;
  hints_.turn = Hints::Turn::running;
  deltas_ = launch.deltas;
  return plan;
}

void GrpcAgent::choose_dialect(const LaunchOptions& options) {
  auto given = [&](std::string_view option) {
    auto found = options.find(option);
    return found == options.end() ? std::string() : found->second;
  };
  std::optional<GrpcDialect> only = grpc_dialect(given(kDialectOption));
  refused_ = given(kRefusedOption);
  may_switch_ = !only && refused_.empty();
  dialect_ = only.value_or(grpc_dialect(given(kFirstDialectOption)).value_or(GrpcDialect::json));
}

void GrpcAgent::record(std::string_view record, std::int64_t now_ms, Actions& out) {
  constexpr std::int64_t kEndOfYear9999Ms = 253'402'300'799'999;
  ++hints_.records;
  now_ms_ = at_ms_ = now_ms;
  if (!read(record)) {
    return not_protocol(record, "A message of the agent that cannot be read", out);
  }
  if (std::int64_t told = message_->timestamp_ms(); told > 0 && told <= kEndOfYear9999Ms) at_ms_ = told;
  if (!check_number(out)) return;
  dispatch(record, out);
}

// A recording says itself which dialect it is in.
bool GrpcAgent::read(std::string_view record) {
  bool typed = record.starts_with('{') ? is_typed_record(record) : dialect_ == GrpcDialect::typed;
  if (typed) return read_typed_message(record, *message_, json_);
  if (!read_agent_message(record, *message_)) return false;
  json_ = agent_message_json(*message_);
  return true;
}

// Services have no such stream; links tell what they notice by it.
void GrpcAgent::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  add_log(out, JoinedText{std::string(line), now_ms}, "link", "");
}

void GrpcAgent::tick(std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  joined(chunks_.due(now_ms), out);
  expire(out);
}

// False: it was here before and says nothing new. What it says is compared, not how it was written: the same message
// may come with its fields in another order, or in a recording with other spaces.
bool GrpcAgent::check_number(Actions& out) {
  std::int64_t number = message_->sequence();
  std::string it = "message " + std::to_string(number);
  switch (numbers_.look(number, message_->SerializeAsString())) {
    case SequenceCheck::Found::right:
      return true;
    case SequenceCheck::Found::gap: {
      std::int64_t first = numbers_.first_missing();
      std::int64_t last = numbers_.last_missing();
      note("Missing from the agent: message" + range_text(first, last),
           "\"missing\":{\"from\":" + std::to_string(first) + ",\"to\":" + std::to_string(last) + "}", out);
      return true;
    }
    case SequenceCheck::Found::repeat:
      note("The agent repeated " + it, "\"repeated\":" + std::to_string(number), out);
      return false;
    case SequenceCheck::Found::reused:
      note("The agent used the number of " + it + " again for another one", "\"reused\":" + std::to_string(number),
           out);
      return true;
    case SequenceCheck::Found::late:
      note("From the agent, late: " + it, "\"late\":" + std::to_string(number), out);
      return true;
  }
  return true;
}

void GrpcAgent::note(std::string_view summary, std::string_view more_members, Actions& out) {
  if (++notes_ > kSequenceNotes) return;
  joined(chunks_.flush(), out);
  std::string data = R"({"stream":"sequence",)";
  data.append(more_members).append("}");
  EventParts parts;
  parts.type = EventType::log;
  parts.timestamp_ms = now_ms_;
  parts.summary = summary;
  parts.data = data;
  add_event(out, parts);
}

void GrpcAgent::not_protocol(std::string_view record, std::string_view summary, Actions& out) {
  joined(chunks_.flush(), out);
  EventParts parts = step(EventType::log);
  parts.summary = summary;
  parts.data = R"({"stream":"grpc"})";
  // What cannot be read is kept as it came. A recording is text already.
  Detail detail;
  if (record.starts_with('{')) {
    detail.raw_text(record);
  } else {
    detail.raw_text("base64:" + encode_base64(record));
  }
  add_event(out, parts, detail.take());
}

Verdict GrpcAgent::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  joined(chunks_.flush(), out);
  std::optional<Verdict::Retry> again = other_dialect(exit);
  for (const Open& each : std::exchange(open_, {})) {
    out.settle({each.id, CommandState::refused,
                again ? "the agent is started again in another dialect; send it once more" : "the agent has ended"});
  }
  if (again) {
    Verdict verdict;
    verdict.state = State::failed;
    verdict.message = again->why;
    verdict.retry = std::move(again);
    return verdict;
  }
  if (notes_ > kSequenceNotes) {
    std::size_t more = std::exchange(notes_, 0) - kSequenceNotes;
    note("The numbers of the agent's messages were wrong " + std::to_string(more) + " more times",
         "\"more\":" + std::to_string(more), out);
  }
  hints_.turn = Hints::Turn::idle;
  Verdict judged = verdict(exit);
  tell_end(judged, exit, out);
  return judged;
}

// The agent ended the call without a word, as one does that cannot read the start.
std::optional<Verdict::Retry> GrpcAgent::other_dialect(const ExitFacts& exit) const {
  if (!may_switch_ || hints_.records > 0 || stopping_ || exit.by_runner || !may_be_unread(exit.code)) {
    return std::nullopt;
  }
  GrpcDialect other = dialect_ == GrpcDialect::json ? GrpcDialect::typed : GrpcDialect::json;
  std::string refused = std::string(shepherd::name(dialect_)) + ": " + grpc_status_text(exit.code, exit.message);
  Verdict::Retry retry;
  retry.options.emplace(kFirstDialectOption, shepherd::name(other));
  retry.options.emplace(kRefusedOption, refused);
  retry.why =
      "The agent did not take the task (" + refused + "); trying the dialect " + std::string(shepherd::name(other));
  return retry;
}

StreamFault GrpcAgent::fault_of(const ExitFacts& exit) const {
  bool tried_in_vain = hints_.records == 0 && may_be_unread(exit.code) && !may_switch_;
  if (tried_in_vain) return dialect_fault(dialect_, exit.code, exit.message, refused_);
  return stream_fault(exit.code, exit.message, hints_.records > 0);
}

// One fatal error says why a run has failed. The agent may have sent it. Where the runner or an operator ended the run,
// they say why.
void GrpcAgent::tell_end(const Verdict& verdict, const ExitFacts& exit, Actions& out) {
  bool broken = exit.code != kGrpcOk;
  bool untold_failure = verdict.state == State::failed && fatal_.empty();
  if (stopping_ || exit.by_runner || !(broken || untold_failure)) return;
  StreamFault fault{"agent_failed", verdict.message};
  if (broken) fault = fault_of(exit);
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", fault.code);
    object.flag("fatal", untold_failure);
    object.flag("recoverable", false);
    if (broken) object.text("grpcStatus", grpc_status_name(exit.code));
  });
  EventParts parts;
  parts.type = EventType::error;
  parts.timestamp_ms = now_ms_;
  parts.summary = fault.text;
  parts.data = data;
  add_event(out, parts);
}

Verdict GrpcAgent::verdict(const ExitFacts& exit) const {
  auto judged = [](State state, std::string message) {
    Verdict verdict;
    verdict.state = state;
    verdict.message = std::move(message);
    return verdict;
  };
  auto or_else = [](const std::string& text, std::string_view otherwise) {
    return text.empty() ? std::string(otherwise) : text;
  };
  if (said_ == Said::completed) return judged(State::completed, or_else(last_status_, last_text_));
  if (said_ == Said::failed) return judged(State::failed, or_else(fatal_, or_else(last_status_, "the agent failed")));
  if (!fatal_.empty()) return judged(State::failed, fatal_);
  if (exit.code != kGrpcOk) {
    return judged(State::failed, fault_of(exit).text);
  }
  if (said_ == Said::interrupted) return judged(State::cancelled, or_else(last_status_, "interrupted"));
  return judged(State::failed, "the agent ended its stream without saying that it has completed or failed");
}

Hints GrpcAgent::hints() const {
  Hints hints = hints_;
  hints.tick_at_ms = chunks_.due_at_ms();
  for (const Open& each : open_) {
    if (!hints.tick_at_ms || each.expires_ms < *hints.tick_at_ms) hints.tick_at_ms = each.expires_ms;
    if (each.kind == CommandKind::steer) ++hints.open_words;
  }
  return hints;
}

}  // namespace shepherd
