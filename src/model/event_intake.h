// The intake of one event: checks its members, replaces secrets, cuts long texts, and writes the result once as the
// body that every consumer gets. Threads: caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/draft.h"
#include "model/event_members.h"
#include "model/wire_json.h"

namespace shepherd {

class EventIntake {
 public:
  EventIntake(const Intake& intake, DraftBatch& batch) : intake_(intake), batch_(batch) {}

  // Adds the draft of the event at the start of `json` (compact, valid) and returns the event's length. After an error
  // the batch is unusable. `may_hold_secrets` is false if the whole request was found clean.
  Result<std::size_t> admit(std::string_view json, bool may_hold_secrets);

 private:
  Result<void> read_header(Draft& draft);
  void rewrite(Member member);
  void set_rewritten(Member member, std::string json);
  void rewrite_type();
  void rewrite_text(Member member, std::size_t most_characters);
  void rewrite_tool_data(Member member, const CondenseRules& rules);
  void shorten_tool_data();
  void keep_whole(Member member, std::size_t characters);
  void write_body(Draft& draft);
  void write_cut();
  void write_unknown();
  void write_member(std::string_view key, std::string_view value);
  std::string make_detail();
  std::string redacted(std::string_view key, std::string_view value) const;
  bool holds_secret(std::string_view json) const;
  std::string_view value_of(Member member) const;

  const Intake& intake_;
  DraftBatch& batch_;
  EventMembers members_;
  bool secrets_ = false;  // this event may contain secrets
  std::string tool_;      // unescaped
  bool changed_ = false;  // rewritten_ has at least one value
  std::array<std::optional<std::string>, kMembers> rewritten_;
  std::array<std::optional<std::string>, kMembers> full_;  // redacted full text of each member that was cut
  std::array<std::size_t, kMembers> whole_{};              // length of that text in characters
};

}  // namespace shepherd
