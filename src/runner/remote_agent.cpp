#include "runner/remote_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "runner/limits.h"

namespace shepherd {
namespace {

Result<std::string> read_credential(const std::string& path, std::string_view what) {
  std::string text;
  if (path.empty()) return text;
  std::ifstream file(path, std::ios::binary);
  text.resize(kMaxCredentialBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (text.empty() || text.size() > kMaxCredentialBytes) {
    return fail(ErrorCode::invalid_argument, "unreadable_credential",
                fmt::format("cannot read the agent's {} from {}", what, path));
  }
  return text;
}

Result<std::string> read_token(const std::string& path) {
  Result<std::string> text = read_credential(path, "token");
  if (!text) return text;
  std::string line = text->substr(0, text->find_first_of("\r\n"));
  bool visible = std::ranges::all_of(line, [](char c) { return c > 0x20 && c < 0x7F; });
  if ((line.empty() && !path.empty()) || !visible) {
    return fail(ErrorCode::invalid_argument, "unreadable_credential",
                fmt::format("the first line of {} is no token", path));
  }
  return line;
}

}  // namespace

Result<void> check_address(std::string_view address) {
  if (address.starts_with("unix:") && address.size() > 5) return {};
  std::size_t colon = address.rfind(':');
  std::string_view host = address.substr(0, std::min(colon, address.size()));
  std::string_view port = colon == std::string_view::npos ? "" : address.substr(colon + 1);
  bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  bool host_right = bracketed || (!host.empty() && host.find_first_of(":/ []") == std::string_view::npos);
  bool port_right = !port.empty() && port.size() <= 5 &&
                    std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; }) &&
                    std::stoi(std::string(port)) > 0 && std::stoi(std::string(port)) <= 65'535;
  if (host_right && port_right) return {};
  return fail(ErrorCode::invalid_argument, "bad_address",
              fmt::format("\"{}\" is no address of an agent; it looks like 127.0.0.1:50051, agent.example.org:443, "
                          "[::1]:50051 or unix:/run/agent.sock",
                          address));
}

bool is_loopback_address(std::string_view address) {
  std::string_view host = address.substr(0, std::min(address.rfind(':'), address.size()));
  return address.starts_with("unix:") || host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Result<GrpcTarget> grpc_target(const RemoteAgent& agent, std::string method) {
  if (Result<void> right = check_address(agent.address); !right) return fail(std::move(right.error()));
  GrpcTarget target;
  target.address = agent.address;
  target.method = std::move(method);
  target.tls = agent.tls;
  target.server_name = agent.server_name;
  target.connect_wait = agent.connect_wait;
  struct File {
    const std::string& path;
    std::string_view what;
    std::string& into;
  };
  for (const File& file :
       {File{agent.ca_file, "certificate authority", target.ca_pem},
        File{agent.cert_file, "certificate", target.cert_pem}, File{agent.key_file, "private key", target.key_pem}}) {
    Result<std::string> text = read_credential(file.path, file.what);
    if (!text) return fail(std::move(text.error()));
    file.into = *std::move(text);
  }
  Result<std::string> token = read_token(agent.token_file);
  if (!token) return fail(std::move(token.error()));
  if (!token->empty()) target.metadata.emplace_back("authorization", "Bearer " + *token);
  for (const auto& [name, value] : agent.metadata) target.metadata.emplace_back(name, value);
  if (!agent.traceparent.empty()) target.metadata.emplace_back("traceparent", agent.traceparent);
  return target;
}

std::vector<std::string> secrets_of(const RemoteAgent& agent) {
  std::vector<std::string> secrets;
  if (Result<std::string> token = read_token(agent.token_file); token && !token->empty()) secrets.push_back(*token);
  for (const auto& [name, value] : agent.metadata) {
    if (sounds_secret(name)) secrets.push_back(value);
  }
  return secrets;
}

bool sounds_secret(std::string_view name) {
  std::string small(name);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(std::array{"token", "secret", "password", "key", "auth"},
                             [&](std::string_view telling) { return small.find(telling) != std::string::npos; });
}

std::string make_traceparent(Random& random) {
  return fmt::format("00-{:016x}{:016x}-{:016x}-01", random.next() | 1U, random.next(), random.next() | 1U);
}

}  // namespace shepherd
