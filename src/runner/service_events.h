// The answer of a call that is a stream of events (`text/event-stream`): the data of each, as it comes.
// Threads: strand (the loop's thread).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "driver/line_splitter.h"
#include "net/http_call.h"

namespace shepherd {

class ServiceEvents final : public net::CallObserver {
 public:
  struct Sinks {
    std::function<void()> opened;                 // the service answered with a stream
    std::function<void(std::string_view)> event;  // its data; lines are joined by newlines
    std::function<void(std::string_view)> ended;  // why, once; also when it never began
  };
  explicit ServiceEvents(Sinks sinks) : sinks_(std::move(sinks)) {}

  void on_head(net::ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> result) override;

 private:
  void take(std::string_view line);

  Sinks sinks_;
  int status_ = 0;
  LineSplitter lines_;
  std::string data_;  // of the event that is not complete
};

}  // namespace shepherd
