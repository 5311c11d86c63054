#include "store/append_plan.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/limits.h"
#include "model/task_fold.h"

namespace shepherd {

namespace {

// The largest integer that both JSON numbers and 64-bit database integers represent.
constexpr std::uint64_t kMaxProducerSequence = std::uint64_t{1} << 53;

class Planner {
 public:
  Planner(const TaskHead& head, const AppendRequest& request, KnownEvents& known)
      : request_(request), state_(head.state), known_(known) {
    auto numbers = head.producers.find(producer_name(request));
    if (request.producer.kind != ProducerKind::none && numbers != head.producers.end()) numbers_ = numbers->second;
    expected_ = numbers_.high() + 1;
    plan_.late = is_terminal(state_.state) && (state_.inferred_end || in_time());
  }

  Result<AppendPlan> run() {
    if (request_.producer.kind == ProducerKind::strict && request_.producer.id.empty()) {
      return fail(ErrorCode::invalid_argument, "producer_required", "A strict producer needs an id.");
    }
    if (request_.fence && !admits(*request_.fence, state_)) return fail(lease_lost());
    plan_.fresh.reserve(request_.drafts.drafts.size());
    for (std::uint32_t i = 0; i < request_.drafts.drafts.size(); ++i) {
      auto taken = take(i);
      if (!taken) return fail(std::move(taken.error()));
    }
    return std::move(plan_);
  }

 private:
  bool in_time() const {
    return request_.producer.kind != ProducerKind::strict && request_.late_within_ms > 0 &&
           request_.received_ms - state_.completed_ms <= request_.late_within_ms;
  }

  const Draft& draft(std::uint32_t i) const { return request_.drafts.drafts[i]; }

  Result<void> take(std::uint32_t i) {
    std::uint64_t number = draft(i).producer_sequence;
    if (number > kMaxProducerSequence) return sequence_out_of_range(i);
    switch (request_.producer.kind) {
      case ProducerKind::strict:
        return number == 0 ? sequence_required(i) : take_strict(i, number);
      case ProducerKind::loose:
        if (number != 0) return take_loose(i, number);
        break;
      case ProducerKind::none:
        break;
    }
    return take_unnumbered(i);
  }

  Result<void> take_strict(std::uint32_t i, std::uint64_t number) {
    if (number == numbers_.high() + 1) {
      numbers_.use(number);
      return add(i, true);
    }
    if (number > numbers_.high()) {
      return fail(Error{ErrorCode::conflict,
                        "sequence_hole",
                        "Number " + std::to_string(number) + " came before its predecessors. Send from " +
                            std::to_string(expected_) + ".",
                        {}}
                      .with("expectedSequence", static_cast<std::int64_t>(expected_))
                      .with("index", std::int64_t{i}));
    }
    auto body = known_body(i, number);
    if (!body) return fail(std::move(body.error()));
    // Retention may have dropped the event, so its content cannot be compared; the number alone proves the repeat.
    if (!*body || request_.drafts.same_content(draft(i), **body)) return {};
    return fail(Error{ErrorCode::conflict,
                      "sequence_reused",
                      "Number " + std::to_string(number) +
                          " of this producer is already another event. A new spool needs a new producer id.",
                      {}}
                    .with("sequence", static_cast<std::int64_t>(number))
                    .with("index", std::int64_t{i}));
  }

  Result<void> take_loose(std::uint32_t i, std::uint64_t number) {
    if (!numbers_.used(number)) {
      numbers_.use(number);
      return add(i, true);
    }
    auto body = known_body(i, number);
    if (!body) return fail(std::move(body.error()));
    if (!*body) return add(i, true);
    if (request_.drafts.same_content(draft(i), **body)) return {};
    return add(i, false);
  }

  Result<void> take_unnumbered(std::uint32_t i) {
    const std::string& id = draft(i).event_id;
    if (id.empty()) return add(i, false);
    if (ids_.contains(id)) return {};
    auto known = known_.has_event_id(id);
    if (!known) return fail(std::move(known.error()));
    if (*known) return {};
    ids_.insert(id);
    return add(i, false);
  }

  Result<void> add(std::uint32_t i, bool keyed) {
    if (ended_ || (is_terminal(state_.state) && !plan_.late)) {
      return fail(Error{ErrorCode::gone, "task_ended", "The task has ended; its log takes no more events.", {}}
                      .with("currentState", std::string(name(ended_ ? end_ : state_.state)))
                      .with("index", std::int64_t{i}));
    }
    if (draft(i).detail.size() > kMaxDetailBytes) {
      return fail(Error{ErrorCode::too_large, "detail_too_large", "The detail of an event is too large.", {}}.with(
          "index", std::int64_t{i}));
    }
    if (!plan_.late) {
      State end = end_state_of(draft(i).type, request_.drafts.body(draft(i)));
      if (is_terminal(end)) {
        ended_ = true;
        end_ = end;
      }
    }
    plan_.fresh.push_back({i, keyed});
    return {};
  }

  Result<std::optional<std::string>> known_body(std::uint32_t i, std::uint64_t number) {
    // Filled on the first repeat only, because most requests have none.
    for (; indexed_ < i; ++indexed_) {
      std::uint64_t earlier = draft(indexed_).producer_sequence;
      if (earlier != 0) in_request_.try_emplace(earlier, indexed_);
    }
    if (auto found = in_request_.find(number); found != in_request_.end()) {
      return std::string(request_.drafts.body(draft(found->second)));
    }
    return known_.body_of_number(producer_name(request_), number);
  }

  std::unexpected<Error> sequence_required(std::uint32_t i) {
    return fail(Error{
        ErrorCode::invalid_argument,
        "sequence_required",
        "A strict producer numbers every event, from 1.",
        {}}.with("index", std::int64_t{i}));
  }

  std::unexpected<Error> sequence_out_of_range(std::uint32_t i) {
    return fail(Error{
        ErrorCode::invalid_argument,
        "sequence_out_of_range",
        "Numbers start at 1 and count up; this one is beyond what a log can hold.",
        {}}.with("index", std::int64_t{i}));
  }

  const AppendRequest& request_;
  const TaskState& state_;
  KnownEvents& known_;
  ProducerNumbers numbers_;
  std::uint64_t expected_ = 0;
  AppendPlan plan_;
  bool ended_ = false;
  State end_ = State::running;
  std::unordered_map<std::uint64_t, std::uint32_t> in_request_;
  std::uint32_t indexed_ = 0;
  std::unordered_set<std::string_view> ids_;
};

}  // namespace

Result<AppendPlan> plan_append(const TaskHead& head, const AppendRequest& request, KnownEvents& known) {
  return Planner(head, request, known).run();
}

}  // namespace shepherd
