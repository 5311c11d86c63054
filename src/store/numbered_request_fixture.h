// Requests and stores for tests of the plan of an append and of what carries it out. Threads: value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "store/append_plan.h"

namespace shepherd {

class NothingKnown final : public KnownEvents {
 public:
  Result<std::optional<std::string>> body_of_number(const std::string&, std::uint64_t) override {
    ++asked;
    return std::nullopt;
  }
  Result<bool> has_event_id(std::string_view) override {
    ++asked;
    if (broken) return fail(ErrorCode::unavailable, "io_error", "");
    return false;
  }
  int asked = 0;
  bool broken = false;
};

inline Draft& add_draft(AppendRequest& request, EventType type, std::string_view body) {
  Draft& draft = request.drafts.drafts.emplace_back();
  draft.type = type;
  draft.body_offset = static_cast<std::uint32_t>(request.drafts.bytes.size());
  draft.body_size = static_cast<std::uint32_t>(body.size());
  request.drafts.bytes += body;
  return draft;
}

inline AppendRequest numbered(ProducerKind kind, std::initializer_list<std::uint64_t> numbers) {
  AppendRequest request;
  request.task = "t";
  request.producer = {kind, kind == ProducerKind::strict ? "p" : ""};
  for (std::uint64_t number : numbers) {
    add_draft(request, EventType::log, "\"n\":" + std::to_string(number)).producer_sequence = number;
  }
  return request;
}

}  // namespace shepherd
