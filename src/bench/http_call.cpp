#include "bench/http_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/http_text.h"
#include "bench/interrupt.h"
#include "bench/poller.h"
#include "bench/steady_time.h"
#include "bench/stream_walk.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kAnswerReadBytes = 256 * 1024;

std::string text_of(const Address& at, const HttpRequest& request) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: {}\r\n\r\n{}", request.method, request.target,
                     at.authority(), request.headers, request.body.size(), request.body);
}

struct Caller {
  Link link;
  std::size_t request = 0;  // index of the current request
  std::string out, in;
  bool busy = false;
};

// Removes the complete answer from the front of `in`; false if it is not complete yet.
Result<bool> take_answer(std::string& in, HttpAnswer& answer) {
  Result<AnswerHead> head = read_answer_head(in);
  if (!head) return fail(head.error());
  if (head->bytes == 0) return false;
  answer.status = head->status;
  if (!head->chunked) {
    if (in.size() < head->bytes + head->body_bytes) return false;
    answer.body = in.substr(head->bytes, head->body_bytes);
    in.erase(0, head->bytes + head->body_bytes);
    return true;
  }
  ChunkDecoder chunks;
  answer.body = in.substr(head->bytes);
  std::size_t size = chunks.decode(answer.body.data(), answer.body.size());
  if (size == kBrokenStream) return fail(ErrorCode::unavailable, "bad_answer", "the answer's chunks are broken");
  if (!chunks.ended()) return false;
  answer.body.resize(size);
  in.clear();
  return true;
}

}  // namespace

Result<std::vector<HttpAnswer>> http_calls(const Address& at, const std::vector<HttpRequest>& requests,
                                           std::size_t connections, double seconds) {
  std::uint64_t deadline = steady_ns() + seconds_as_ns(seconds);
  Poller poller;
  std::vector<Caller> callers;
  std::vector<HttpAnswer> answers(requests.size());
  std::vector<char> buffer(kAnswerReadBytes);
  std::size_t next = 0, done = 0;
  auto begin = [&](Caller& caller) {
    caller.busy = next < requests.size();
    if (!caller.busy) return;
    caller.request = next++;
    caller.out = text_of(at, requests[caller.request]);
  };
  auto lost = [] { return fail(ErrorCode::unavailable, "connection_lost", "the server closed the connection"); };

  for (std::size_t i = 0; i < std::min(connections, requests.size()); ++i) {
    Result<Link> link = Link::open(at);
    if (!link) return fail(link.error());
    callers.push_back({std::move(*link), 0, {}, {}});
    begin(callers.back());
    poller.add(callers.back().link.fd(), i, true);
  }
  while (done < requests.size()) {
    if (Result<void> going = check_interrupt(); !going) return fail(going.error());
    if (steady_ns() > deadline) return fail(ErrorCode::unavailable, "timeout", "a request was not answered in time");
    for (const epoll_event& event : poller.wait(kNsPerSecond / 10)) {
      Caller& caller = callers[event.data.u64];
      while (!caller.out.empty()) {
        long sent = caller.link.send(caller.out.data(), caller.out.size());
        if (sent < 0) return lost();
        if (sent == 0) break;
        caller.out.erase(0, static_cast<std::size_t>(sent));
      }
      long got = caller.link.receive(buffer.data(), buffer.size());
      if (got < 0 && caller.busy) return lost();
      if (got < 0) poller.remove(caller.link.fd());
      if (got > 0) {
        caller.in.append(buffer.data(), static_cast<std::size_t>(got));
        Result<bool> taken = take_answer(caller.in, answers[caller.request]);
        if (!taken) return fail(taken.error());
        if (*taken) {
          ++done;
          begin(caller);
        }
      }
      poller.change(caller.link.fd(), event.data.u64, !caller.out.empty());
    }
  }
  return answers;
}

Result<HttpAnswer> http_call(const Address& at, const HttpRequest& request, double seconds) {
  Result<std::vector<HttpAnswer>> answers = http_calls(at, {request}, 1, seconds);
  if (!answers) return fail(answers.error());
  return std::move(answers->front());
}

}  // namespace shepherd::bench
