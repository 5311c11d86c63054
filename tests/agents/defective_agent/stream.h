// One stream of the defective agent: a small, correct agent but for the one defect it was given.
// Threads: run() on a thread of its own, the rest on gRPC's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "gibson/agent.grpc.pb.h"

namespace defective {

namespace pb = gibson::agent;

extern std::atomic<bool> shutting_down;
extern std::atomic<int> open_streams;

// Deletes itself when gRPC is done with it.
class Stream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Stream(std::string defect, bool typed) : defect_(std::move(defect)), typed_(typed) {
    ++open_streams;
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override;

 private:
  bool has(const char* defect) const { return defect_ == defect; }
  bool is_cancelled() const { return cancelled_ && !has("ignores_cancel"); }
  grpc::Status refusal(const pb::ClientMessage& first) const;
  grpc::Status run();
  void step(int number);

  void send(pb::AgentMessage message);
  void say(pb::AgentStatus status, const std::string& message);
  void output(const std::string& text, bool is_reasoning);
  void non_fatal_error();
  void tool(int number);
  void finding();

  void hear(const pb::ClientMessage& message);
  void ack(const pb::SteeringMessage& steering);
  // False: the stream is over.
  bool pause_if_interrupted();
  bool wait_if_interactive();
  bool breathe();  // the time a step takes
  grpc::Status end();

  const std::string defect_;
  const bool typed_;
  std::thread worker_;
  grpc::ByteBuffer incoming_, outgoing_;
  std::atomic<bool> cancelled_{false};
  std::mutex sending_;
  std::int64_t sequence_ = 0;

  std::mutex mutex_;
  std::condition_variable heard_;
  std::deque<std::string> words_;
  bool interrupted_ = false, resumed_ = false, interactive_ = false, closed_ = false, mode_broke_ = false;
  bool started_ = false, writing_ = false, failed_ = false;
};

}  // namespace defective
