// Rules about single messages: numbers, ids, times, output, findings.
#include "harness/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>

#include "harness/limits.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

bool is_hex_id(std::string_view text, std::size_t digits) {
  auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == digits && std::all_of(text.begin(), text.end(), is_digit) &&
         text.find_first_not_of('0') != std::string_view::npos;
}

std::string where(const Transcript& transcript, std::size_t index) {
  return fmt::format("{}, message {} ({})", transcript.scenario, index + 1, kind_of(transcript.seen[index].message));
}

void check_unreadable(const Transcript& transcript, Report& report) {
  auto first = std::ranges::find_if(transcript.seen, &SeenMessage::unreadable);
  report.fail("payload", "unreadable_message",
              fmt::format("{}: message {} is no message of the dialect that the start had", transcript.scenario,
                          first - transcript.seen.begin() + 1));
}

}  // namespace

void check_rules(const Transcript& transcript, Report& report) {
  if (transcript.seen.empty()) return;
  // What it had said is missing in everything that the other rules look at.
  if (std::ranges::any_of(transcript.seen, &SeenMessage::unreadable)) return check_unreadable(transcript, report);
  check_payloads(transcript, report);
  check_sequence(transcript, report);
  check_trace(transcript, report);
  check_timestamps(transcript, report);
  check_output(transcript, report);
  check_tools(transcript, report);
  check_findings(transcript, report);
  check_acks(transcript, report);
  check_end(transcript, report);
}

void check_payloads(const Transcript& transcript, Report& report) {
  for (std::size_t i = 0; i < transcript.seen.size(); ++i) {
    const pb::AgentMessage& message = transcript.seen[i].message;
    if (message.payload_case() == pb::AgentMessage::PAYLOAD_NOT_SET) {
      return report.fail("payload", "payload_missing", where(transcript, i) + ": says nothing");
    }
    if (message.has_error() && message.error().code().empty()) {
      return report.fail("errors", "error_without_code", where(transcript, i) + ": the error has no code");
    }
  }
  report.pass("payload");
}

void check_sequence(const Transcript& transcript, Report& report) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < transcript.seen.size(); ++i) {
    std::int64_t number = transcript.seen[i].message.sequence();
    if (number == before + 1) {
      before = number;
      continue;
    }
    std::string seen = fmt::format("{}: has {}, expected {}", where(transcript, i), number, before + 1);
    if (i == 0) return report.fail("sequence", "sequence_start", seen);
    return report.fail("sequence", number <= before ? "sequence_repeats" : "sequence_gap", seen);
  }
  report.pass("sequence");
}

void check_trace(const Transcript& transcript, Report& report) {
  const std::string& first = transcript.seen.front().message.trace_id();
  for (std::size_t i = 0; i < transcript.seen.size(); ++i) {
    const pb::AgentMessage& message = transcript.seen[i].message;
    if (message.trace_id().empty()) {
      return report.fail("trace", "trace_id_missing", where(transcript, i) + ": has no trace_id");
    }
    if (!is_hex_id(message.trace_id(), 32)) {
      return report.fail("trace", "trace_id_malformed",
                         fmt::format("{}: trace_id \"{}\" is not 32 small hexadecimal digits", where(transcript, i),
                                     message.trace_id()));
    }
    if (message.span_id().empty()) {
      return report.fail("trace", "span_id_missing", where(transcript, i) + ": has no span_id");
    }
    if (!is_hex_id(message.span_id(), 16)) {
      return report.fail("trace", "span_id_malformed",
                         fmt::format("{}: span_id \"{}\" is not 16 small hexadecimal digits", where(transcript, i),
                                     message.span_id()));
    }
    if (message.trace_id() != first) {
      return report.fail("trace", "trace_id_changes", where(transcript, i) + ": another trace_id than before it");
    }
  }
  report.pass("trace");
  if (transcript.sent_trace_id.empty()) return;
  if (first == transcript.sent_trace_id) return report.pass("trace_continued");
  report.not_shown("trace_continued", "the messages are in another trace than the call");
}

void check_timestamps(const Transcript& transcript, Report& report) {
  for (std::size_t i = 0; i < transcript.seen.size(); ++i) {
    const SeenMessage& seen = transcript.seen[i];
    std::int64_t time = seen.message.timestamp_ms();
    if (time == 0)
      return report.fail("timestamps", "timestamp_missing", where(transcript, i) + ": has no timestamp_ms");
    if (std::abs(time - seen.wall_ms) > kAgentClockSlack.count()) {
      return report.fail(
          "timestamps", "timestamp_wrong",
          fmt::format("{}: {} is far from now in milliseconds ({})", where(transcript, i), time, seen.wall_ms));
    }
  }
  report.pass("timestamps");
}

void check_output(const Transcript& transcript, Report& report) {
  std::vector<const SeenMessage*> window;  // output of the last second
  for (const SeenMessage& seen : transcript.seen) {
    if (!seen.message.has_output()) continue;
    report.pass(seen.message.output().is_reasoning() ? "reasoning" : "output");
    window.push_back(&seen);
    std::erase_if(window, [&](const SeenMessage* old) { return seen.at_ms - old->at_ms >= 1000; });
    std::size_t bytes = 0;
    for (const SeenMessage* each : window) bytes += each->message.output().content().size();
    if (window.size() > kFloodMessages && bytes < window.size() * kFloodBytes) {
      return report.fail("batching", "output_floods",
                         fmt::format("{}: {} pieces of output within a second, {} bytes on average; join them",
                                     transcript.scenario, window.size(), bytes / window.size()));
    }
  }
  report.pass("batching");
}

void check_findings(const Transcript& transcript, Report& report) {
  for (std::size_t i = 0; i < transcript.seen.size(); ++i) {
    const pb::AgentMessage& message = transcript.seen[i].message;
    if (!message.has_finding()) continue;
    boost::system::error_code problem;
    boost::json::value finding = boost::json::parse(message.finding().finding_json(), problem);
    if (problem || !finding.is_object()) {
      return report.fail("findings", "finding_malformed", where(transcript, i) + ": finding_json is not a JSON object");
    }
    for (const char* member : {"title", "severity"}) {
      const boost::json::value* value = finding.as_object().if_contains(member);
      if (value == nullptr || !value->is_string() || value->as_string().empty()) {
        return report.fail("findings", "finding_incomplete",
                           fmt::format("{}: the finding has no \"{}\"", where(transcript, i), member));
      }
    }
    report.pass("findings");
  }
}

}  // namespace shepherd::harness
