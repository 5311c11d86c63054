#include "outbound/post_callback.h"

#include <utility>

#include "outbound/callback_target.h"
#include "outbound/limits.h"

namespace shepherd {

Result<int> post_callback(const net::Url& url, const net::HeaderList& headers, std::string_view body,
                          const std::stop_token& stop) {
  net::ClientBounds bounds;
  bounds.max_response_bytes = kMaxCallbackAnswerBytes;
  bounds.status_only = true;
  bounds.allowed = [](std::string_view address) { return !is_refused_address(address); };
  net::HttpClient client(url, {}, std::move(bounds));
  std::stop_callback cut_off(stop, [&client] { client.cancel(); });
  auto response = client.request("POST", url.target, headers, body, kCallbackTimeout);
  if (!response) return fail(response.error());
  return response->status;
}

}  // namespace shepherd
