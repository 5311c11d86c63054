#include "client/api_get.h"

#include <utility>

#include "base/limits.h"
#include "client/api_client.h"
#include "client/problem.h"

namespace shepherd {

Result<std::string> api_get(const Destination& destination, const net::ClientTls& tls, const std::string& target) {
  Result<net::Url> url = net::parse_url(destination.public_url);
  if (!url) return fail(url.error());
  net::HttpClient client(*std::move(url), tls);
  net::HeaderList headers{{"Accept", "application/json"}};
  if (!destination.token.empty()) headers.emplace_back("Authorization", "Bearer " + destination.token);
  Result<net::ClientResponse> response = client.request("GET", target, headers, "", kClientTimeout);
  if (!response) return fail(with_connection_advice(response.error()));
  if (response->status >= 300) return fail(read_problem(response->status, response->body));
  return std::move(response->body);
}

}  // namespace shepherd
