// Prints what a live client brings, a line an event. Events go to standard output, remarks about the connection to
// standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/context.h"
#include "app/event_line.h"
#include "client/live_client.h"

namespace shepherd {

struct PrinterOptions {
  bool one_task = true;           // else each line names its task
  bool json = false;              // events as they came
  std::int64_t started_ms = 0;    // wall; 0: the first event's time
  bool quiet_about_live = false;  // no remark when it has caught up
};

// Threads: caller.
class LivePrinter : public LiveListener {
 public:
  LivePrinter(Context& context, PrinterOptions options)
      : context_(context), options_(options), started_ms_(options.started_ms), said_live_(options.quiet_about_live) {}

  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) override;
  void on_gap(std::string_view task, std::uint64_t from, std::uint64_t to) override;
  void on_state(const LiveChange& change) override;
  void on_complete(std::string_view task, std::string_view data) override;

  bool completed() const { return status_ == "completed" || status_ == "Succeeded"; }
  const std::string& status() const { return status_; }  // of the task that completed last; empty: none has

 private:
  void print(std::string_view task, const EventLine& line);
  void remark(std::string_view text, Color color);

  Context& context_;
  const PrinterOptions options_;
  std::int64_t started_ms_;
  bool live_ = false;
  bool said_live_;  // or there is nothing to wait for
  std::string status_;
};

}  // namespace shepherd
