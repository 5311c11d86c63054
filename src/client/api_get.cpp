#include "client/api_get.h"

#include <utility>

#include "client/api_client.h"
#include "client/limits.h"
#include "client/problem.h"

namespace shepherd {
namespace {

Result<std::string> ask(const Destination& destination, const net::ClientTls& tls, const char* method,
                        const std::string& target, const std::string& body) {
  Result<net::Url> url = net::parse_url(destination.public_url);
  if (!url) return fail(url.error());
  net::HttpClient client(*std::move(url), tls);
  net::HeaderList headers{{"Accept", "application/json"}};
  if (!destination.token.empty()) headers.emplace_back("Authorization", "Bearer " + destination.token);
  if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
  Result<net::ClientResponse> response = client.request(method, target, headers, body, kClientTimeout);
  if (!response) return fail(with_connection_advice(response.error()));
  if (response->status >= 300) return fail(read_problem(response->status, response->body));
  return std::move(response->body);
}

}  // namespace

Result<std::string> api_get(const Destination& destination, const net::ClientTls& tls, const std::string& target) {
  return ask(destination, tls, "GET", target, "");
}

Result<std::string> api_post(const Destination& destination, const net::ClientTls& tls, const std::string& target,
                             const std::string& body) {
  return ask(destination, tls, "POST", target, body);
}

}  // namespace shepherd
