#include "process/warden_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>

#include "process/limits.h"

namespace shepherd {
namespace {

template <class Number>
void put(std::string& out, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class Number>
bool take(std::string_view& from, Number& value) {
  if (from.size() < sizeof value) return false;
  std::copy_n(from.begin(), sizeof value, reinterpret_cast<char*>(&value));
  from.remove_prefix(sizeof value);
  return true;
}

bool receive_all(int socket, char* into, std::size_t size) {
  while (size > 0) {
    ssize_t got = ::recv(socket, into, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool take_words(std::string_view& from, std::vector<std::string>& words) {
  std::uint32_t count = 0;
  if (!take(from, count)) return false;
  while (count-- > 0) {
    std::uint32_t size = 0;
    if (!take(from, size) || size > from.size()) return false;
    words.emplace_back(from.substr(0, size));
    from.remove_prefix(size);
  }
  return true;
}

bool take_numbers(std::string_view& from, std::vector<std::int64_t>& numbers) {
  std::uint32_t count = 0;
  if (!take(from, count)) return false;
  while (count-- > 0) {
    std::int64_t number = 0;
    if (!take(from, number)) return false;
    numbers.push_back(number);
  }
  return true;
}

// The numbers before the processes: exit code, exit signal, cpu, peak, unlisted, number ended, number left.
constexpr std::size_t kEndNumbers = 7;

}  // namespace

bool send_message(int socket, const WardenMessage& message) {
  std::string body;
  put(body, static_cast<std::uint8_t>(message.verb));
  put(body, static_cast<std::uint32_t>(message.numbers.size()));
  for (std::int64_t number : message.numbers) put(body, number);
  put(body, static_cast<std::uint32_t>(message.words.size()));
  for (const std::string& word : message.words) {
    put(body, static_cast<std::uint32_t>(word.size()));
    body += word;
  }
  std::string frame;
  put(frame, static_cast<std::uint32_t>(body.size()));
  frame += body;
  for (std::string_view rest = frame; !rest.empty();) {
    ssize_t sent = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<WardenMessage> receive_message(int socket) {
  std::uint32_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  if (size > kMaxWardenMessageBytes) return std::nullopt;
  std::string body(size, '\0');
  if (!receive_all(socket, body.data(), body.size())) return std::nullopt;
  std::string_view rest = body;
  WardenMessage message;
  std::uint8_t verb = 0;
  if (!take(rest, verb) || !take_numbers(rest, message.numbers) || !take_words(rest, message.words)) {
    return std::nullopt;
  }
  message.verb = static_cast<WardenVerb>(verb);
  return message;
}

// Numbers: the number of arguments and of variables, the means of confinement, what it joins, the kinds of the steps.
// Words: both directories, arguments, variables, the steps' paths.
WardenMessage encode_start(const WardenStart& start) {
  WardenMessage message{
      WardenVerb::start,
      {static_cast<std::int64_t>(start.arguments.size()), static_cast<std::int64_t>(start.environment.size()),
       static_cast<std::int64_t>(start.means), static_cast<std::int64_t>(start.joins)},
      {start.directory, start.begins_in}};
  for (const auto* list : {&start.arguments, &start.environment}) {
    message.words.insert(message.words.end(), list->begin(), list->end());
  }
  for (const ConfineStep& step : start.steps) {
    message.numbers.push_back(static_cast<std::int64_t>(step.kind));
    message.words.push_back(step.path);
  }
  return message;
}

std::optional<WardenStart> decode_start(WardenMessage message) {
  constexpr std::size_t kBefore = 4;
  const auto& numbers = message.numbers;
  if (message.verb != WardenVerb::start || numbers.size() < kBefore || numbers[0] < 1 || numbers[1] < 0) {
    return std::nullopt;
  }
  auto arguments = static_cast<std::size_t>(numbers[0]);
  auto variables = static_cast<std::size_t>(numbers[1]);
  std::size_t steps = numbers.size() - kBefore;
  if (message.words.size() != 2 + arguments + variables + steps) return std::nullopt;
  WardenStart start;
  auto next = std::make_move_iterator(message.words.begin());
  start.directory = *next++;
  start.begins_in = *next++;
  start.means = static_cast<ConfineMeans>(numbers[2]);
  start.joins = static_cast<WardenJoins>(numbers[3]);
  for (std::size_t i = 0; i < arguments; ++i) start.arguments.push_back(*next++);
  for (std::size_t i = 0; i < variables; ++i) start.environment.push_back(*next++);
  for (std::size_t i = 0; i < steps; ++i) {
    start.steps.push_back({static_cast<ConfineStep::Kind>(numbers[kBefore + i]), *next++});
  }
  return start;
}

WardenMessage encode_end(const AgentEnd& end) {
  WardenMessage message{WardenVerb::ended,
                        {end.exit.code, end.exit.signal, end.cpu_ms, static_cast<std::int64_t>(end.peak_resident_bytes),
                         static_cast<std::int64_t>(end.unlisted), static_cast<std::int64_t>(end.ended.size()),
                         static_cast<std::int64_t>(end.left.size())},
                        {}};
  for (const auto* list : {&end.ended, &end.left}) {
    for (const EndedProcess& process : *list) {
      message.numbers.push_back(process.pid);
      message.words.push_back(process.command_line);
      message.words.push_back(process.how);
    }
  }
  return message;
}

std::optional<AgentEnd> decode_end(const WardenMessage& message) {
  const auto& numbers = message.numbers;
  if (message.verb != WardenVerb::ended || numbers.size() < kEndNumbers) return std::nullopt;
  AgentEnd end;
  end.exit = {static_cast<int>(numbers[0]), static_cast<int>(numbers[1])};
  end.cpu_ms = numbers[2];
  end.peak_resident_bytes = static_cast<std::uint64_t>(numbers[3]);
  end.unlisted = static_cast<std::size_t>(numbers[4]);
  auto ended = static_cast<std::size_t>(numbers[5]);
  std::size_t all = numbers.size() - kEndNumbers;
  if (ended + static_cast<std::size_t>(numbers[6]) != all || message.words.size() != all * 2) return std::nullopt;
  for (std::size_t i = 0; i < all; ++i) {
    EndedProcess process{static_cast<pid_t>(numbers[kEndNumbers + i]), message.words[2 * i], message.words[2 * i + 1]};
    (i < ended ? end.ended : end.left).push_back(std::move(process));
  }
  return end;
}

}  // namespace shepherd
