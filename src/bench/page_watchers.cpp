#include "bench/page_watchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/http_text.h"
#include "bench/poller.h"
#include "bench/steady_time.h"
#include "bench/stream_walk.h"

namespace shepherd::bench {
namespace {

constexpr double kAnswerSeconds = 10;
constexpr std::uint64_t kLookNs = kNsPerSecond / 20;
constexpr std::string_view kUpdate = R"({"type":"task_update")";

}  // namespace

Result<void> PageWatchers::start(const Address& at, const std::string& headers, std::size_t pages) {
  // The request of the page's fleet view.
  std::string request = fmt::format(
      "GET /api/v1/events?types=approval HTTP/1.1\r\nHost: {}\r\n{}Upgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
      at.authority(), headers);
  std::uint64_t deadline = steady_ns() + seconds_as_ns(kAnswerSeconds);
  for (std::size_t i = 0; i < pages; ++i) {
    Result<Link> link = Link::open(at);
    if (!link) return fail(link.error());
    Page page{.link = std::move(*link), .unread = {}};
    std::string_view left = request;
    AnswerHead head;
    while (head.bytes == 0) {
      if (!left.empty())
        left.remove_prefix(static_cast<std::size_t>(std::max(0L, page.link.send(left.data(), left.size()))));
      std::array<char, 4'096> buffer{};
      long got = page.link.receive(buffer.data(), buffer.size());
      if (got > 0) page.unread.append(buffer.data(), static_cast<std::size_t>(got));
      Result<AnswerHead> read = read_answer_head(page.unread);
      if (!read) return fail(read.error());
      head = *read;
      bool late = steady_ns() > deadline;
      if (got < 0 || late || (head.bytes != 0 && head.status != 101)) {
        return fail(ErrorCode::unavailable, "refused",
                    fmt::format("a page was not let in: {}", page.unread.substr(0, 300)));
      }
    }
    page.unread.erase(0, head.bytes);
    pages_.push_back(std::move(page));
  }
  thread_ = std::thread([this] { read(); });
  return {};
}

void PageWatchers::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  pages_.clear();
}

void PageWatchers::read() {
  Poller poller;
  for (std::size_t i = 0; i < pages_.size(); ++i) poller.add(pages_[i].link.fd(), i, false);
  while (!stopping_) {
    for (const epoll_event& event : poller.wait(kLookNs)) {
      Page& page = pages_[event.data.u64];
      if (!page.open || take(page)) continue;
      page.open = false;
      poller.remove(page.link.fd());
      ++lost_;
    }
  }
}

// False if the connection has ended. Pings stay unanswered, because a measurement is shorter than the server's timeout.
bool PageWatchers::take(Page& page) {
  std::array<char, 65'536> buffer;
  long got = page.link.receive(buffer.data(), buffer.size());
  if (got < 0) return false;
  page.unread.append(buffer.data(), static_cast<std::size_t>(got));
  bytes_ += static_cast<std::uint64_t>(got);
  bool open = true;
  std::size_t used = walk_websocket(page.unread, [&](Opcode opcode, std::string_view payload) {
    if (payload.starts_with(kUpdate)) ++updates_;
    if (opcode == Opcode::close) open = false;
  });
  if (used == kBrokenStream) return false;
  page.unread.erase(0, used);
  return open;
}

}  // namespace shepherd::bench
