// What a backend and its calls share: its address, its key, its connections, what was found out about it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "llm/backend_breaker.h"
#include "llm/dialect.h"
#include "llm/inquiry.h"
#include "llm/limits.h"
#include "llm/model_config.h"
#include "llm/model_key.h"
#include "net/http_call.h"
#include "net/timers.h"
#include "net/url.h"

namespace shepherd {

class InquiryCall;

// How long calls wait; tests wait for less.
struct BackendWaits {
  std::chrono::milliseconds first_token = kFirstTokenWait, next_token = kNextTokenWait;
  std::chrono::milliseconds usage = kUsageWait, stream_end = kStreamEndWait;
  std::chrono::milliseconds first_pause = kFirstModelPause;
};

// Threads: strand.
struct BackendCore {
  BackendCore(const ModelConfig& given, ModelParts given_parts, net::Url address);

  // A request to the configured address, or to the server's root. An empty body is a GET.
  net::CallRequest request(const Question& question, const std::string& key) const;
  RequestPlan plan(RequestUse use) const;
  const std::string& model() const { return findings.facts.model; }

  // Replaces the key and the configured headers' values, wherever a backend repeats them.
  std::string hide(std::string text) const;
  Error hide(Error error) const;
  // A failed connection as an error of this backend.
  Error unreachable(const Error& cause) const;
  void learn_context(const Error& error);  // from context_full
  void learn(const Probe& found);          // all of whose questions were answered

  const ModelConfig config;
  BackendWaits waits;
  const ModelParts parts;
  const Dialect& dialect;
  const net::Url base;
  std::string base_path, root_path;  // without a slash at the end
  net::Timers timers;
  net::HttpCaller caller;
  ModelKey key;
  BackendBreaker breaker;
  Findings findings;
  bool probed = false;   // since it failed last
  bool answers = false;  // when it was asked last
  RequestHabits habits;
  // A probe beside a call, which does not wait for it.
  std::unique_ptr<Probe> probe;
  std::shared_ptr<InquiryCall> probing;
};

}  // namespace shepherd
