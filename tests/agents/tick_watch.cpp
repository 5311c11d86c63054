// Follows all tasks of a server over SSE and measures how old the scripted agents' ticks are when they arrive.
//
//   tick_watch HOST:PORT TOKEN        a line on standard input is answered by one JSON line about what has come since
//
// the last one; it ends when standard input closes. It prints `following` when the stream has begun. Beside the ages it
// checks the ticks of every task: numbered without a hole, none twice. Nothing is parsed that need not be: the consumer
// must not be what is measured.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::int64_t wall_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

int connected(const std::string& address) {
  std::size_t colon = address.rfind(':');
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) return -1;
  int link = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool good = connect(link, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  return good ? link : -1;
}

std::int64_t number_at(std::string_view text, std::size_t at) {
  std::int64_t value = -1;
  if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

std::string_view between(std::string_view text, std::string_view begin, char end) {
  std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  at += begin.size();
  return text.substr(at, text.find(end, at) - at);
}

class Ticks {
 public:
  // One line of the stream.
  void take(std::string_view line, std::int64_t now_ns) {
    if (!line.starts_with("data:")) return;
    std::string_view words = between(line, R"("summary":"tick )", '"');
    if (words.empty()) return;
    std::int64_t number = number_at(words, 0);
    std::size_t at = words.find(" at "), dot = words.find('.');
    if (at == std::string_view::npos || dot == std::string_view::npos) return;
    std::int64_t said_ns = number_at(words, at + 4) * 1'000'000'000 + number_at(words, dot + 1);
    std::int64_t& last = last_[std::string(between(line, R"("taskID":")", '"'))];
    if (number == last + 1 || (last == 0 && number > 0)) {
      last = number;
    } else {
      ++broken_;
    }
    ages_ns_.push_back(now_ns - said_ns);
  }

  void print() {
    std::sort(ages_ns_.begin(), ages_ns_.end());
    std::printf(R"({"ticks":%zu,"tasks":%zu,"broken":%zu,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f})"
                "\n",
                ages_ns_.size(), last_.size(), broken_, age_ms(0.5), age_ms(0.99), age_ms(1));
    ages_ns_.clear();
  }

 private:
  double age_ms(double part) const {
    if (ages_ns_.empty()) return 0;
    auto at = static_cast<std::size_t>(part * static_cast<double>(ages_ns_.size() - 1));
    return static_cast<double>(ages_ns_[at]) / 1e6;
  }

  std::vector<std::int64_t> ages_ns_;
  std::map<std::string, std::int64_t> last_;  // newest tick of each task
  std::size_t broken_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("tick_watch HOST:PORT TOKEN\n", stderr);
    return 2;
  }
  int link = connected(argv[1]);
  std::string request = "GET /api/v1/events?types=thinking HTTP/1.1\r\nHost: " + std::string(argv[1]) +
                        "\r\nAuthorization: Bearer " + argv[2] + "\r\nAccept: text/event-stream\r\n\r\n";
  if (link < 0 || send(link, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size())) {
    std::perror("tick_watch");
    return 1;
  }
  Ticks ticks;
  std::string buffer;
  std::vector<char> piece(1 << 20);
  bool following = false;
  for (;;) {
    std::array<pollfd, 2> ready{{{link, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0) return 1;
    if (ready[1].revents != 0) {
      std::array<char, 64> asked{};
      if (read(STDIN_FILENO, asked.data(), asked.size()) <= 0) return 0;
      ticks.print();  // what has come since the last time it was asked
      std::fflush(stdout);
      continue;
    }
    ssize_t got = recv(link, piece.data(), piece.size(), 0);
    std::int64_t now = wall_ns();
    if (got <= 0) {
      std::fputs("tick_watch: the server closed the stream\n", stderr);
      return 1;
    }
    buffer.append(piece.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = buffer.find('\n', begin)) != std::string::npos; begin = end + 1) {
      ticks.take(std::string_view(buffer).substr(begin, end - begin), now);
    }
    buffer.erase(0, begin);
    if (!following) {
      following = true;
      std::puts("following");
      std::fflush(stdout);
    }
  }
}
