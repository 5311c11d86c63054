// What an agent's telemetry (OTLP) says about its sessions: events, and figures that are counted once.
//
// A driver's reader fills a SessionTelemetry from records; which task it belongs to, and what of it that task lacks, is
// the receiver's to decide.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/actions.h"
#include "driver/event_json.h"
#include "model/task.h"
#include "otlp/request.h"

namespace shepherd {

struct TelemetryStep {
  DriverEvent event;
  std::int64_t at_ms = 0;
  bool named = false;  // its id is the one that the agent's stream and hooks have for the same step
  bool works = false;  // the agent does something: it no longer waits for a person
  bool waits = false;  // the turn is over; says so only if nothing newer is known
};

// One finished call of the model's API.
struct TelemetryCall {
  std::string id;
  std::string model;
  Usage usage;
};

enum class UsageMember : std::uint8_t { cost, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens };

// One number of a metric that counts what the model's calls used.
struct TelemetrySum {
  std::string series;  // the metric and its attributes: numbers of one series follow each other
  std::string model;
  UsageMember member = UsageMember::cost;
  bool delta = false;  // since `start`; otherwise the total since `start`
  std::uint64_t start = 0, time = 0;
  double value = 0;
};

struct SessionTelemetry {
  std::string agent;    // first part of the id of a task that it opens: "claude"
  std::string program;  // as people call it
  std::string session_id;
  std::string task;    // the task that the sender named; may be empty
  std::string prompt;  // the first one that was exported
  std::vector<TelemetryStep> steps;
  std::vector<TelemetryCall> calls;
  std::vector<TelemetrySum> sums;

  std::int64_t newest_work_ms() const;  // 0: it did not work
};

// An id for a record that has none: the same whenever the same record comes.
std::string telemetry_event_id(std::string_view kind, std::uint64_t time, std::string_view record);

// The parts that every step of the session shares. `time` is in nanoseconds; 0 or one that cannot be is `now_ms`.
EventParts telemetry_parts(EventType type, const SessionTelemetry& session, std::uint64_t time, std::int64_t now_ms);
std::int64_t telemetry_ms(std::uint64_t time, std::int64_t now_ms);

// A record that no reader knows becomes a `log` event that says its name.
void read_unknown_log(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session);

// session_start of a session whose task the telemetry opens; status running of one that was waiting.
DriverEvent telemetry_joined(const SessionTelemetry& session, std::int64_t at_ms);
DriverEvent telemetry_goes_on(const SessionTelemetry& session, std::int64_t at_ms);

}  // namespace shepherd
