// The streams of one server: their conversations, their work threads, and the timer that sends text when it is due.
// Independent of gRPC. Threads: any.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "conversation.h"
#include "shepherd/agent/server.h"

namespace shepherd::agent {

class Streams {
 public:
  Streams(const ServerOptions& options, Work work);
  ~Streams();  // stops all streams and waits for their work
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Returns false at the maximum number of streams or while the server shuts down.
  bool admit(const std::shared_ptr<Conversation>& conversation);
  void begin_work(const std::shared_ptr<Conversation>& conversation);
  void closed(const std::shared_ptr<Conversation>& conversation);  // gRPC is done with the stream

  void stop_all();  // also rejects new streams
  // Returns true if every stream is closed and every work function has returned.
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline);
  void wait_until_work_has_ended();

 private:
  void pulse();

  const ServerOptions& options_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::shared_ptr<Conversation>> open_;
  std::size_t working_ = 0;
  bool stopping_ = false;
  bool ending_ = false;
  std::thread pulse_thread_;
};

}  // namespace shepherd::agent
