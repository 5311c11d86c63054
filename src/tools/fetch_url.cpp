#include "tools/fetch_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "net/http_call.h"
#include "net/text.h"
#include "tools/limits.h"
#include "tools/page_text.h"
#include "tools/public_address.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kFetchProperties = R"({"url":{"type":"string"}})";

Result<net::Url> checked_url(std::string_view text) {
  bool http = net::equals_ignoring_case(text.substr(0, 7), "http://") ||
              net::equals_ignoring_case(text.substr(0, 8), "https://");
  if (!http || text.size() > kMaxFetchedUrlBytes) {
    return fail(
        ErrorCode::invalid_argument, "bad_url",
        fmt::format("\"url\" must be an http:// or https:// address of at most {} bytes.", kMaxFetchedUrlBytes));
  }
  return net::parse_url(text);
}

std::string lower_host(const net::Url& url) {
  std::string host = net::host_header(url);
  for (char& c : host) c = net::to_lower(c);
  return host;
}

std::string url_text(const net::Url& url) {
  return (url.secure ? "https://" : "http://") + net::host_header(url) + url.target;
}

// The address that a Location header means.
std::string joined_url(const net::Url& base, std::string_view location) {
  std::string_view scheme = base.secure ? "https:" : "http:";
  std::string origin = std::string(scheme) + "//" + net::host_header(base);
  std::string_view path = std::string_view(base.target).substr(0, base.target.find('?'));
  std::size_t special = location.find_first_of(":/?#");
  if (special != std::string_view::npos && location[special] == ':') return std::string(location);
  if (location.starts_with("//")) return std::string(scheme).append(location);
  if (location.starts_with('/')) return origin.append(location);
  if (location.starts_with('?')) return origin.append(path).append(location);
  return origin.append(path.substr(0, path.rfind('/') + 1)).append(location);
}

bool may_follow(const net::Url& from, const net::Url& to) {
  return lower_host(from) == lower_host(to) && (to.secure || !from.secure);
}

struct FetchedPage {
  std::string url, type;
  int status = 0;
  std::string body;
  bool cut = false;
};

ToolOutcome page_outcome(const FetchedPage& page) {
  if (!is_text_type(page.type, page.body)) {
    return failed_outcome(fmt::format("{} is no text but {}, which cannot be shown.", page.url,
                                      page.type.empty() ? "binary" : shown_line(page.type, kMaxDescribedCharacters)));
  }
  std::string text = decoded_body(page.type, page.body);
  if (is_html_type(page.type, text)) text = html_text(text);
  if (page.cut) text += "\n[The page is longer and was cut here.]";
  ToolOutcome outcome;
  outcome.success = page.status >= 200 && page.status < 300;
  if (!outcome.success) text = fmt::format("Error: {} answered with status {}.\n{}", page.url, page.status, text);
  if (text.empty()) text = "[The page is empty.]";
  outcome.content = bounded_result(std::move(text), "\n[The rest of the page is left out.]");
  outcome.summary = fmt::format("{} {} ({} bytes)", page.status, page.url, page.body.size());
  return outcome;
}

// Threads: strand.
class FetchRun final : public ToolRun, private net::CallObserver {
 public:
  FetchRun(const FetchUrlParts& parts, net::HttpCaller& caller, net::Url url, ToolAnswer answer)
      : parts_(parts), caller_(caller), url_(std::move(url)), answer_(std::move(answer)) {
    call();
  }

 private:
  void call() {
    using std::chrono::milliseconds;
    net::CallRequest request;
    request.url = url_;
    request.headers = {{"User-Agent", "shepherd"},
                       {"Accept", "text/html,text/plain,application/json;q=0.9,text/*;q=0.9,*/*;q=0.1"},
                       {"Accept-Encoding", "identity"}};
    auto left = std::chrono::duration_cast<milliseconds>(until_ - std::chrono::steady_clock::now());
    request.timeouts.whole = std::max(left, milliseconds(1));
    call_ = caller_.start(std::move(request), *this);
  }

  void on_head(net::ResponseHead&& head) override {
    page_.status = head.status;
    page_.type = head.header("content-type");
    std::string_view encoding = head.header("content-encoding");
    std::string_view location = head.header("location");
    bool redirects = head.status >= 300 && head.status < 400 && head.status != 304 && !location.empty();
    if (redirects) return redirect(location);
    if (!encoding.empty() && !net::equals_ignoring_case(encoding, "identity")) {
      answer(failed_outcome(fmt::format("{} is compressed ({}), although that was not asked for.", url_text(url_),
                                        shown_line(encoding, kMaxDescribedCharacters))));
    }
  }
  void on_body(std::string_view piece) override {
    std::size_t room = kMaxFetchedBytes - page_.body.size();
    page_.body.append(piece.substr(0, room));
    if (piece.size() <= room) return;
    page_.cut = true;
    show();
  }
  void on_end(Result<void> result) override {
    if (result) return show();
    std::string why = result.error().message;
    if (result.error().reason == "refused_address") {
      why += ". It is an address of this machine or of a private network; chat.fetch_private allows those";
    }
    answer(failed_outcome(why + "."));
  }

  void redirect(std::string_view location) {
    std::string next = joined_url(url_, location);
    auto target = checked_url(next);
    if (!target) {
      return answer(failed_outcome(fmt::format("{} redirects to an address that cannot be used: {}", url_text(url_),
                                               shown_line(next, kMaxDescribedCharacters))));
    }
    if (!may_follow(url_, *target)) {
      std::string where = url_text(*target);
      return answer(
          good_outcome(fmt::format("{} redirects to {}, which is another server. Fetch that address, if it is wanted.",
                                   url_text(url_), where),
                       "redirects to " + shown_line(where, kMaxDescribedCharacters)));
    }
    if (++redirects_ > kMaxRedirects) {
      return answer(failed_outcome(fmt::format("more than {} redirects.", kMaxRedirects)));
    }
    url_ = *std::move(target);
    call();
  }

  void show() {
    call_.cancel();
    page_.url = shown_line(url_text(url_), kMaxDescribedCharacters);
    last_ = run_beside(
        parts_.loop, parts_.blocking, [page = std::move(page_)] { return page_outcome(page); }, std::move(answer_));
  }
  void answer(ToolOutcome outcome) {
    call_.cancel();
    last_ = answer_later(parts_.loop, std::move(outcome), std::move(answer_));
  }

  const FetchUrlParts& parts_;
  net::HttpCaller& caller_;
  net::Url url_;
  ToolAnswer answer_;
  const std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + kFetchWait;
  int redirects_ = 0;
  FetchedPage page_;
  std::unique_ptr<ToolRun> last_;  // gives the answer
  net::HttpCall call_;
};

net::CallerOptions fetch_options(bool private_addresses) {
  net::CallerOptions options;
  if (!private_addresses) options.allowed = is_public_address;
  return options;
}

class FetchUrl final : public BuiltInTool {
 public:
  explicit FetchUrl(FetchUrlParts parts) : parts_(parts), caller_(parts.loop, fetch_options(parts.private_addresses)) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return "Fetches " + shown_line(arguments.shown("url"), kMaxDescribedCharacters);
  }
  std::string rule(const Arguments& arguments) const override {
    auto url = checked_url(arguments.shown("url"));
    if (url) return "fetch_url(" + lower_host(*url) + ")";
    return "fetch_url(\"" + shown_line(arguments.shown("url"), kMaxDescribedCharacters) + "\")";
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto text = arguments.text("url");
    if (!text) return answer_later(parts_.loop, failed_outcome(text.error().message), std::move(answer));
    auto url = checked_url(*text);
    if (!url) return answer_later(parts_.loop, failed_outcome(url.error().message), std::move(answer));
    return std::make_unique<FetchRun>(parts_, caller_, *std::move(url), std::move(answer));
  }

 private:
  const FetchUrlParts parts_;
  net::HttpCaller caller_;
  const Tool tool_ =
      built_in_tool("fetch_url", "Fetches a public web page or file as text.", kFetchProperties, R"(["url"])", true);
};

}  // namespace

std::unique_ptr<BuiltInTool> make_fetch_url(FetchUrlParts parts) {
  return std::make_unique<FetchUrl>(parts);
}

}  // namespace shepherd
