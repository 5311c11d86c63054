// Prints a live client's events: one line each, an agent's text in full, and its last answer again at the end. Events
// go to standard output, remarks about the connection to standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cli/context.h"
#include "cli/event_printer.h"
#include "client/live_client.h"

namespace shepherd {

struct PrinterOptions {
  bool one_task = true;           // otherwise each line names its task
  bool json = false;              // prints events unchanged
  bool brief = false;             // an agent's text as one line
  std::int64_t started_ms = 0;    // wall clock; 0: the first event's time
  bool quiet_about_live = false;  // no remark when it has caught up
};

// Threads: caller.
class LivePrinter : public LiveObserver {
 public:
  LivePrinter(Context& context, PrinterOptions options, Connect connect)
      : context_(context),
        options_(options),
        events_(context.out, std::move(connect), options.brief),
        started_ms_(options.started_ms),
        said_live_(options.quiet_about_live) {}

  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) override;
  void on_gap(std::string_view task, std::uint64_t from, std::uint64_t to) override;
  void on_state(const LiveChange& change) override;
  void on_complete(std::string_view task, std::string_view data) override;

  bool completed() const { return status_ == "completed" || status_ == "Succeeded"; }
  const std::string& status() const { return status_; }  // of the most recently completed task, or empty

 protected:
  void remark(std::string_view text, Color color);
  EventPrinter& events() { return events_; }

 private:
  std::string when(std::string_view task, const EventLine& line);

  Context& context_;
  const PrinterOptions options_;
  EventPrinter events_;
  std::int64_t started_ms_;
  bool live_ = false;
  bool said_live_;  // already said, or nothing to wait for
  std::string status_;
};

}  // namespace shepherd
