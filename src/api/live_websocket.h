// A live WebSocket. On a stream of many logs the client may change the set of logs:
//   {"type":"subscribe","tasks":["a","b"]}    adds them; without tasks, all that the caller may see
//   {"type":"unsubscribe","tasks":["a"]}      removes them
// The answer to both is {"type":"subscribed","data":{"tasks":[…]}}. An operator may also command a task:
//   {"type":"steer","id":"c1","taskID":"a","data":{"content":"…"}}    any kind; taskID is optional on a task's stream
// The answer is {"type":"command_accepted","id","taskID","data":{…}}. Any other or refused message gets
// {"type":"error","data":{…}} with the message's id.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/live_stream.h"

namespace shepherd {

// Threads: strand (the connection's io thread).
class LiveWebSocket : public LiveStream {
 public:
  // The log of one task.
  LiveWebSocket(Core& core, FeedOptions options, StreamTrail trail);
  // Many logs; `place` is the end of the change stream at the request.
  LiveWebSocket(Core& core, FeedOptions options, StreamTrail trail, Place place);

  bool wants_task_updates() const override { return selection_ != nullptr; }
  void on_task_updates(const std::vector<TaskUpdate>& updates) override;
  void on_inbox_update(const ByteSpan& frame) override;
  void on_message(std::string_view text) final;

 protected:
  static Error bad_message(std::string text);
  static Result<std::set<std::string>> named_tasks(const boost::json::value& value);

  void on_stop() override;
  void on_second(std::int64_t steady_ms) override;
  // Changes the set of logs, for `subscribe` or `unsubscribe`.
  virtual Result<void> change(const boost::json::object& message, bool subscribe);
  virtual void on_changed() {}                                    // the client has the answer
  virtual std::optional<std::set<std::string>> followed() const;  // nullopt for all
  void answer(std::string_view type, std::string_view data, std::string_view id, std::string_view task = {});
  void refuse(const Error& error, std::string_view id, std::string_view task = {});

 private:
  struct Selection {
    std::optional<std::set<std::string>> tasks;  // nullopt for all
    Place place;
  };

  void on_start() override;
  void command(const boost::json::object& message, std::string_view text, std::string_view id);

  std::unique_ptr<Selection> selection_;  // nullptr for the log of one task, and for logs one by one
};

}  // namespace shepherd
