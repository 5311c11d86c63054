// What a driver wants done: one list, in the order in which it is to be done.
//
// A driver adds actions; its caller carries them out one after the other and clears the list. Order matters where an
// agent or a consumer sees it: text before the event that finishes it, bytes for the agent before the report that they
// were delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "driver/host_call.h"
#include "model/command.h"
#include "model/event_type.h"

namespace shepherd {

// An event ready to be posted, without its number.
struct DriverEvent {
  EventType type = EventType::log;
  std::string json;    // one compact object of SPEC §3 with `eventID` where the agent has an id for the step
  std::string detail;  // one object: full `input`, `output` or `text` where the event has less, and `raw`; empty: none
};
// Appends the object the events route takes: the event with its producer's number (0: none) and its detail.
void append_posted(std::string& out, const DriverEvent& event, std::uint64_t sequence, bool with_detail = true);

// Live text.
struct TextDelta {
  std::string block;  // the agent's name for the piece of text that grows
  std::string text;
};

// For the agent's input: whole lines for a program, framed messages for a service.
struct WriteInput {
  std::string bytes;
};
struct CloseInput {};  // after what was written

// The agent is to stand still, and to go on.
struct PauseAgent {};
struct ResumeAgent {};

// A HostCall (host_call.h) is answered with Driver::answer(), perhaps much later. What an agent asks of a person is an
// `approval` event, which a command answers.

// What became of a command. The runner says `delivered` when the bytes before it are written.
struct CommandUpdate {
  std::string id;
  CommandState state = CommandState::delivered;
  std::string reason;
  std::string detail = {};  // as DriverEvent's: the agent's own record that says so; empty: none
};

using Action =
    std::variant<DriverEvent, TextDelta, WriteInput, CloseInput, PauseAgent, ResumeAgent, HostCall, CommandUpdate>;

// The actions of one kind, in order. Valid until the list changes. Threads: value.
template <class Kind>
class ActionsOf {
 public:
  class Iterator {
   public:
    using value_type = Kind;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const Kind* const* at) : at_(at) {}
    const Kind& operator*() const { return **at_; }
    const Kind* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const Kind* const* at_ = nullptr;
  };

  explicit ActionsOf(const std::vector<Action>& all) {
    for (const Action& each : all) {
      if (const auto* found = std::get_if<Kind>(&each)) found_.push_back(found);
    }
  }
  Iterator begin() const { return Iterator(found_.data()); }
  Iterator end() const { return Iterator(found_.data() + found_.size()); }
  std::size_t size() const { return found_.size(); }
  bool empty() const { return found_.empty(); }
  const Kind& operator[](std::size_t index) const { return *found_.at(index); }
  const Kind& front() const { return *found_.at(0); }
  const Kind& back() const { return *found_.at(found_.size() - 1); }

 private:
  std::vector<const Kind*> found_;
};

// Threads: value.
class Actions {
 public:
  void event(DriverEvent event);
  void delta(TextDelta delta);
  void write(std::string_view bytes);  // joined with what was written just before
  void close_input() { list_.emplace_back(CloseInput{}); }
  void pause() { list_.emplace_back(PauseAgent{}); }
  void resume() { list_.emplace_back(ResumeAgent{}); }
  void call(HostCall call) { list_.emplace_back(std::move(call)); }
  void settle(CommandUpdate update) { list_.emplace_back(std::move(update)); }
  void add(Actions more);  // in their order, after what is there

  std::size_t size() const { return list_.size(); }
  Action& operator[](std::size_t index) { return list_[index]; }
  void clear();

  std::size_t shown() const { return shown_; }  // events and deltas since clear()

  // By kind, for callers that need no order.
  template <class Kind>
  ActionsOf<Kind> of() const {
    return ActionsOf<Kind>(list_);
  }
  ActionsOf<DriverEvent> events() const { return of<DriverEvent>(); }
  ActionsOf<TextDelta> deltas() const { return of<TextDelta>(); }
  ActionsOf<CommandUpdate> commands() const { return of<CommandUpdate>(); }
  std::string written() const;             // all bytes for the agent
  std::vector<DriverEvent> take_events();  // clears the list
  std::string take_written();              // leaves the other actions

 private:
  std::vector<Action> list_;
  std::size_t shown_ = 0;
};

}  // namespace shepherd
