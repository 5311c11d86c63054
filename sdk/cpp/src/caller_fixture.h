// The caller's end of a stream, for tests: a gRPC client that waits for expected messages.
// Threads: caller.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gibson/agent.grpc.pb.h"
#include "shepherd/agent/server.h"

namespace shepherd::agent {

namespace pb = gibson::agent;

class Caller {
 public:
  explicit Caller(const AgentServer& server, std::vector<std::pair<std::string, std::string>> metadata = {}) {
    channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(server.port()), grpc::InsecureChannelCredentials());
    stub_ = pb::AgentService::NewStub(channel_);
    for (const auto& [key, value] : metadata) context_.AddMetadata(key, value);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));  // so that no test hangs
    stream_ = stub_->StreamExecute(&context_);
  }

  Caller& start(const std::string& task_json = R"({"id":"task-1","goal":"test"})",
                pb::AgentMode mode = pb::AGENT_MODE_AUTONOMOUS) {
    pb::ClientMessage message;
    message.mutable_start()->set_task_json(task_json);
    message.mutable_start()->set_initial_mode(mode);
    return send(message);
  }
  Caller& steer(const std::string& id, const std::string& content) {
    pb::ClientMessage message;
    message.mutable_steering()->set_id(id);
    message.mutable_steering()->set_content(content);
    return send(message);
  }
  Caller& interrupt(const std::string& reason) {
    pb::ClientMessage message;
    message.mutable_interrupt()->set_reason(reason);
    return send(message);
  }
  Caller& resume(const std::string& guidance) {
    pb::ClientMessage message;
    message.mutable_resume()->set_guidance(guidance);
    return send(message);
  }
  Caller& set_mode(pb::AgentMode mode) {
    pb::ClientMessage message;
    message.mutable_set_mode()->set_mode(mode);
    return send(message);
  }
  Caller& send(const pb::ClientMessage& message) {
    stream_->Write(message);
    return *this;
  }
  Caller& half_close() {
    stream_->WritesDone();
    return *this;
  }
  void cancel() { context_.TryCancel(); }

  // Reads until a message fits; fails the test if the stream ends first.
  pb::AgentMessage until(const std::function<bool(const pb::AgentMessage&)>& fits) {
    pb::AgentMessage message;
    while (stream_->Read(&message)) {
      seen.push_back(message);
      if (fits(message)) return message;
    }
    ADD_FAILURE() << "the stream ended: " << stream_->Finish().error_message();
    return {};
  }
  pb::AgentMessage until(pb::AgentStatus status) {
    return until(
        [=](const pb::AgentMessage& message) { return message.has_status() && message.status().status() == status; });
  }
  grpc::Status end() {
    pb::AgentMessage message;
    while (stream_->Read(&message)) seen.push_back(message);
    return stream_->Finish();
  }
  std::vector<pb::AgentStatus> statuses() const {
    std::vector<pb::AgentStatus> all;
    for (const auto& message : seen) {
      if (message.has_status()) all.push_back(message.status().status());
    }
    return all;
  }
  std::string output() const {
    std::string all;
    for (const auto& message : seen) all += message.output().content();
    return all;
  }

  std::vector<pb::AgentMessage> seen;

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<pb::ClientMessage, pb::AgentMessage>> stream_;
};

inline ServerOptions quiet() {
  ServerOptions options;
  options.log = {};
  return options;
}

}  // namespace shepherd::agent
