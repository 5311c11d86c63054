// The other side of bench/chat_bench.py: a fast backend, and watchers of many streams. One thread, one epoll, no
// libraries.
//
//   chat_peer backend
//     An OpenAI-compatible backend on loopback; it prints its port. A prompt "TOKENS n EVERY us" gets n tokens, one
//     per interval of that many microseconds. Each is the time at which it was written, in nanoseconds with a letter
//     for each digit ("tbcdefghij "), because the server holds numbers back until they cannot be a card's or a key's.
//   chat_peer watch HOST PORT TOKENS REQUEST…
//     Opens a connection for each file REQUEST, sends the file, and reads until each stream has had TOKENS tokens.
//     Prints one JSON object: how many came, and how long after they were written: over all tokens, and the largest p50
//     and p99 that one stream has.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using std::string;
using std::string_view;

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void make_ready(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

void send_all(int fd, string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) continue;  // the reader is slower than a token: rare, and short
    if (n <= 0) return;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
}

string chunked(string_view data) {
  char head[24];
  std::snprintf(head, sizeof head, "%zx\r\n", data.size());
  return string(head) + string(data) + "\r\n";
}

const char* const kChunkHead =
    R"(data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"peer","choices":[{"index":0,"delta":)";

// --- backend ---

struct Stream {
  std::int64_t left = 0, every_ns = 0, sent = 0;
  std::int64_t prompt = 0;
};

struct Client {
  string in;
  Stream stream;
};

struct Due {
  std::int64_t at;
  int fd;
  std::uint64_t serial;
  bool operator>(const Due& other) const { return at > other.at; }
};

std::int64_t number_after(string_view text, string_view word, std::int64_t otherwise) {
  const auto at = text.rfind(word);
  return at == string_view::npos ? otherwise : std::atoll(text.data() + at + word.size());
}

void answer_json(int fd, const string& body) {
  send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                   "\r\n\r\n" + body);
}

// Returns whether a stream has begun.
bool answer(int fd, Client& client, string_view head, string_view body) {
  const string_view line = head.substr(0, head.find("\r\n"));
  const auto tokens = static_cast<std::int64_t>(body.size() / 4);  // equal in the count and in the usage
  if (line.find("/input_tokens") != string_view::npos) {
    answer_json(fd, R"({"object":"response.input_tokens","input_tokens":)" + std::to_string(tokens) + "}");
  } else if (line.find("/props") != string_view::npos) {
    answer_json(fd, R"({"default_generation_settings":{"n_ctx":131072},"total_slots":1000})");
  } else if (line.find("/models") != string_view::npos) {
    answer_json(
        fd,
        R"({"object":"list","data":[{"id":"peer","object":"model","created":1,"owned_by":"peer","meta":{"n_ctx":131072}}]})");
  } else if (line.find("/chat/completions") != string_view::npos) {
    client.stream = {number_after(body, "TOKENS ", 3), number_after(body, "EVERY ", 0) * 1000, 0, tokens};
    send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    return true;
  } else {
    send_all(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  }
  return false;
}

void send_token(int fd) {
  string time = std::to_string(now_ns());
  for (char& digit : time) digit = static_cast<char>(digit - '0' + 'a');
  char text[256];
  const int n = std::snprintf(text, sizeof text,
                              R"(%s{"content":"t%s "},"finish_reason":null}]})"
                              "\n\n",
                              kChunkHead, time.c_str());
  send_all(fd, chunked({text, static_cast<std::size_t>(n)}));
}

void send_end(int fd, const Stream& stream) {
  string end = string(kChunkHead) + "{},\"finish_reason\":\"stop\"}]}\n\n";
  end +=
      R"(data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"peer","choices":[],"usage":{"prompt_tokens":)" +
      std::to_string(stream.prompt) + R"(,"completion_tokens":)" + std::to_string(stream.sent) + R"(,"total_tokens":)" +
      std::to_string(stream.prompt + stream.sent) + "}}\n\ndata: [DONE]\n\n";
  send_all(fd, chunked(end) + "0\r\n\r\n");
}

int backend() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 1024) != 0)
    fail("listen");
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  make_ready(listener);
  const int poll = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener;
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);

  std::unordered_map<int, std::pair<Client, std::uint64_t>> clients;  // each with a number that no later connection has
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  std::uint64_t serial = 0;
  std::vector<epoll_event> events(256);
  while (true) {
    int wait = -1;
    if (!due.empty()) wait = static_cast<int>(std::max<std::int64_t>(0, (due.top().at - now_ns()) / 1'000'000));
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), wait);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        for (int made; (made = accept(listener, nullptr, nullptr)) >= 0;) {
          make_ready(made);
          event.data.fd = made;
          epoll_ctl(poll, EPOLL_CTL_ADD, made, &event);
          clients[made] = {Client{}, ++serial};
        }
        continue;
      }
      auto& [client, number] = clients[fd];
      char piece[65536];
      const ssize_t n = read(fd, piece, sizeof piece);
      if (n <= 0) {
        close(fd);
        clients.erase(fd);
        continue;
      }
      client.in.append(piece, static_cast<std::size_t>(n));
      const auto head_end = client.in.find("\r\n\r\n");
      if (head_end == string::npos) continue;
      const string_view head(client.in.data(), head_end);
      string lower(head);
      std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
      const auto body_length = static_cast<std::size_t>(number_after(lower, "content-length:", 0));
      if (client.in.size() < head_end + 4 + body_length) continue;
      if (answer(fd, client, head, string_view(client.in).substr(head_end + 4, body_length)))
        due.push({now_ns(), fd, number});
      client.in.erase(0, head_end + 4 + body_length);
    }
    while (!due.empty() && due.top().at <= now_ns()) {
      const Due next = due.top();
      due.pop();
      const auto found = clients.find(next.fd);
      if (found == clients.end() || found->second.second != next.serial) continue;  // it has gone
      Stream& stream = found->second.first.stream;
      send_token(next.fd);
      ++stream.sent;
      if (--stream.left > 0) {
        due.push({next.at + stream.every_ns, next.fd, next.serial});
      } else {
        send_end(next.fd, stream);
      }
    }
  }
}

// --- watchers ---

struct Watched {
  string line;
  std::int64_t tokens = 0;
  std::vector<float> delays;  // milliseconds
};

void take_line(string_view line, std::int64_t now, Watched& watched) {
  if (!line.starts_with("data: ")) return;
  const bool ours = line.find(R"("type":"delta")") != string_view::npos;
  if (!ours && line.find("chat.completion.chunk") == string_view::npos) return;
  // A server may put several tokens into one event.
  for (std::size_t at = line.find(ours ? R"("delta":"t)" : R"("content":"t)"); at != string_view::npos;
       at = line.find(" t", at + 1)) {
    const auto begin = line.find('t', at + (line[at] == '"' ? 9 : 0));
    std::int64_t written = 0;
    for (auto c = begin + 1; c < line.size() && line[c] >= 'a' && line[c] <= 'j'; ++c)
      written = written * 10 + (line[c] - 'a');
    if (written < 1'000'000'000) continue;
    watched.delays.push_back(static_cast<float>(now - written) / 1e6F);
    ++watched.tokens;
  }
}

double part(const std::vector<float>& sorted, double share) {
  return sorted.empty() ? -1
                        : sorted[std::min(sorted.size() - 1,
                                          static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

int watch(int argc, char** argv) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, argv[2], &address.sin_addr);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[3])));
  const std::int64_t wanted = std::atoll(argv[4]);
  const int poll = epoll_create1(0);
  std::unordered_map<int, Watched> streams;
  for (int i = 5; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const string request((std::istreambuf_iterator<char>(file)), {});
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
    send_all(fd, request);
    make_ready(fd);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    streams[fd];
  }
  std::printf("open\n");
  std::fflush(stdout);
  std::vector<std::vector<float>> ended;  // the delays of streams that the server has closed
  std::vector<epoll_event> events(256);
  std::size_t open = streams.size();
  const std::int64_t began = now_ns();
  std::int64_t last = began;
  while (open > 0 && now_ns() - last < 10'000'000'000) {  // ten seconds without a token: something is lost
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 200);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      char piece[65536];
      const ssize_t n = read(fd, piece, sizeof piece);
      const std::int64_t now = now_ns();
      Watched& watched = streams[fd];
      if (n <= 0) {
        close(fd);
        open -= watched.tokens < wanted ? 1U : 0U;
        ended.push_back(std::move(watched.delays));
        streams.erase(fd);
        continue;
      }
      const std::int64_t before = watched.tokens;
      watched.line.append(piece, static_cast<std::size_t>(n));
      std::size_t from = 0;
      for (std::size_t end; (end = watched.line.find('\n', from)) != string::npos; from = end + 1) {
        take_line(string_view(watched.line).substr(from, end - from), now, watched);
      }
      watched.line.erase(0, from);
      if (watched.tokens > before) last = now;
      if (watched.tokens >= wanted && before < wanted) --open;
    }
  }
  for (auto& [fd, watched] : streams) ended.push_back(std::move(watched.delays));
  std::vector<float> all;
  double worst_p50 = 0, worst_p99 = 0;
  for (std::vector<float>& delays : ended) {
    std::ranges::sort(delays);
    worst_p50 = std::max(worst_p50, part(delays, 0.5));
    worst_p99 = std::max(worst_p99, part(delays, 0.99));
    all.insert(all.end(), delays.begin(), delays.end());
  }
  std::ranges::sort(all);
  std::printf(R"({"tokens":%zu,"p50_ms":%.3f,"p99_ms":%.3f,"worst_p50_ms":%.3f,"worst_p99_ms":%.3f,"max_ms":%.3f,)"
              R"("seconds":%.2f})"
              "\n",
              all.size(), part(all, 0.5), part(all, 0.99), worst_p50, worst_p99,
              all.empty() ? -1.0 : static_cast<double>(all.back()), static_cast<double>(last - began) / 1e9);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "backend") return backend();
  if (mode == "watch" && argc > 5) return watch(argc, argv);
  std::fprintf(stderr, "usage: chat_peer backend | chat_peer watch HOST PORT TOKENS REQUEST…\n");
  return 2;
}
