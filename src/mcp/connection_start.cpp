// The beginning of a connection: the server's version, its tools, and how it says that they have changed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "json/scan.h"
#include "json/write.h"
#include "mcp/connection.h"
#include "mcp/limits.h"

namespace shepherd {
namespace {

using std::chrono::steady_clock;

// Any version that has tools is good enough; the newest is asked for.
constexpr std::array<std::string_view, 4> kLegacyVersions{kMcpLegacy, "2025-06-18", "2025-03-26", "2024-11-05"};

constexpr std::int64_t kUnsupportedVersion = -32022;
constexpr std::int64_t kMethodNotFound = -32601;

bool is_modern_error(std::int64_t code) {
  return code <= -32020 && code >= -32022;
}

struct Versions {
  bool listed = false, modern = false, legacy = false;
  std::string text;
};

Versions read_versions(std::string_view array) {
  Versions found;
  auto elements = array_elements(array);
  found.listed = elements.has_value();
  for (std::string_view each : elements.value_or(std::vector<std::string_view>())) {
    std::string version = string_value(each).value_or("");
    found.modern = found.modern || version == kMcpModern;
    found.legacy =
        found.legacy || std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) != kLegacyVersions.end();
    found.text += (found.text.empty() ? "" : ", ") + shortened(version, 20);
  }
  found.text = shortened(found.text, kMaxMcpFaultTextBytes);
  return found;
}

}  // namespace

void McpConnection::discover() {
  ++discoveries_;
  modern_ = true;
  link_->speak(kMcpModern);
  discovery_ = request("server/discover", "", kMcpHandshakeWait,
                       [this](std::expected<std::string, McpFailure> reply) { take_discovery(std::move(reply)); });
  // Some programs say nothing to what they do not know. A service always does.
  if (!link_->over_http()) probe_.arm(steady_clock::now() + kMcpProbeWait);
}

void McpConnection::take_discovery(std::expected<std::string, McpFailure> reply) {
  discovery_ = 0;
  probe_.disarm();
  if (ready_ || (initializing_ == 0 && !modern_)) return;  // the handshake was faster
  if (reply) {
    Versions versions = read_versions(find_member(*reply, "supportedVersions"));
    if (versions.modern) {
      if (auto node = open_.extract(std::exchange(initializing_, 0)); !node.empty()) link_->drop(node.key());
      return become(McpEra::modern, kMcpModern, find_member(*reply, "capabilities"));
    }
    if (!versions.listed || versions.legacy) return initialize();
    return close(fmt::format("it speaks only {}", versions.text));
  }
  const McpFailure& why = reply.error();
  if (why.cause == McpFailure::Cause::error && why.code == kUnsupportedVersion) {
    Versions versions = read_versions(find_member(why.data, "supported"));
    if (versions.modern && discoveries_ < kMaxMcpDiscoveries && initializing_ == 0) return discover();
    if (versions.legacy && !versions.modern) return initialize();
    return close(fmt::format("it speaks only {}", versions.text));
  }
  if (why.cause == McpFailure::Cause::error && !is_modern_error(why.code)) return initialize();
  // A status that says "not like this" comes from a legacy server; others say that it cannot serve at all.
  int status = why.fault.status;
  bool refused = why.cause == McpFailure::Cause::fault && why.fault.kind == McpFault::Kind::refused;
  bool passing = status < 400 || status == 401 || status == 403 || status == 408 || status == 429 || status >= 500;
  if (refused && !passing) return initialize();
  if (why.cause == McpFailure::Cause::fault && why.fault.kind == McpFault::Kind::broke_off && status == 200) {
    return initialize();
  }
  close(why.message);
}

void McpConnection::initialize() {
  probe_.disarm();
  if (initializing_ != 0 || observer_ == nullptr) return;
  modern_ = false;
  link_->speak("");
  std::string members = object_text([&](JsonObject& made) {
    made.text("protocolVersion", kMcpLegacy);
    made.json("capabilities", "{}");
    made.object("clientInfo", [&](JsonObject& info) {
      info.text("name", "shepherd");
      info.text("version", parts_.version);
    });
  });
  initializing_ = request("initialize", std::string_view(members).substr(1, members.size() - 2), kMcpHandshakeWait,
                          [this](std::expected<std::string, McpFailure> reply) { take_initialize(std::move(reply)); });
}

void McpConnection::take_initialize(std::expected<std::string, McpFailure> reply) {
  initializing_ = 0;
  if (!reply) {
    const McpFailure& why = reply.error();
    int status = why.fault.status;
    bool elsewhere = why.cause == McpFailure::Cause::fault && why.fault.kind == McpFault::Kind::refused &&
                     (status == 400 || status == 404 || status == 405);
    if (elsewhere && link_->over_http() && !oldest_) return fall_back(why);
    era_ = McpEra::unknown;
    return close(fmt::format("it refused to begin: {}", why.message));
  }
  std::string version = text_member(*reply, "protocolVersion");
  if (std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) == kLegacyVersions.end()) {
    era_ = McpEra::unknown;
    return close(fmt::format("it speaks version \"{}\", which is not known here", shortened(version, 40)));
  }
  if (auto node = open_.extract(std::exchange(discovery_, 0)); !node.empty()) link_->drop(node.key());
  become(oldest_ ? McpEra::oldest : McpEra::legacy, version, find_member(*reply, "capabilities"));
}

// Before streams answered requests, a stream came first.
void McpConnection::fall_back(const McpFailure& why) {
  parts_.log.note(fmt::format("{}; trying the version of 2024-11-05", why.message));
  oldest_ = true;
  // The present link is in a call of its own.
  parts_.loop.post([weak = std::weak_ptr(self_)] {
    auto self = weak.lock();
    if (!self || (*self)->observer_ == nullptr) return;
    (*self)->link_ = (*self)->parts_.link(McpEra::oldest, **self);
    (*self)->initialize();
  });
}

void McpConnection::become(McpEra era, std::string_view version, std::string_view capabilities) {
  era_ = era;
  modern_ = era == McpEra::modern;
  protocol_ = version;
  link_->speak(version);
  std::string_view tools = find_member(capabilities, "tools");
  has_tools_ = tools.starts_with('{');
  list_changes_ = has_tools_ && find_member(tools, "listChanged") == "true";
  if (!modern_) {
    notify("notifications/initialized", "");
    for (std::int64_t id : std::exchange(refused_, {})) {
      if (auto found = open_.find(id); found != open_.end()) link_->send(found->second.sent);
    }
    if (list_changes_) link_->listen();
  }
  if (has_tools_) return list_tools();
  listed({});
}

void McpConnection::list_tools() {
  listing_ = true;
  list_once_more_ = false;
  last_list_ = steady_clock::now();
  relist_.disarm();
  list_page("", 1, {});
}

void McpConnection::list_page(std::string cursor, int page, std::vector<McpTool> tools) {
  std::string members = cursor.empty() ? "" : "\"cursor\":" + cursor;
  request("tools/list", members, kMcpListWait,
          [this, cursor, page, tools = std::move(tools)](std::expected<std::string, McpFailure> reply) mutable {
            if (!reply) return list_failed(reply.error());
            McpToolPage read = read_tool_page(*reply, modern_ && link_->over_http());
            for (const std::string& each : read.dropped) parts_.log.note(fmt::format("a tool is left out: {}", each));
            for (McpTool& tool : read.tools) {
              bool twice = std::any_of(tools.begin(), tools.end(),
                                       [&](const McpTool& other) { return other.name == tool.name; });
              if (!twice && tools.size() < kMaxMcpTools) tools.push_back(std::move(tool));
            }
            bool more = !read.next_cursor.empty() && read.next_cursor != cursor && page < kMaxMcpPages &&
                        tools.size() < kMaxMcpTools;
            if (!more) return listed(std::move(tools));
            list_page(std::move(read.next_cursor), page + 1, std::move(tools));
          });
}

void McpConnection::listed(std::vector<McpTool> tools) {
  listing_ = false;
  ready_ = true;
  tools_ = std::move(tools);
  retry_waiting_calls();
  if (list_once_more_) list_changed();
  if (modern_ && list_changes_ && subscription_ == 0) subscribe();
  observer_->on_tools(tools_);
}

// The first list must come; after that the old one is kept.
void McpConnection::list_failed(const McpFailure& why) {
  listing_ = false;
  if (!ready_) return close(fmt::format("it lists no tools: {}", why.message));
  parts_.log.note(fmt::format("its tools could not be listed again: {}", why.message));
  retry_waiting_calls();
}

void McpConnection::list_changed() {
  list_once_more_ = true;
  if (listing_ || !ready_ || !has_tools_) return;
  relist_.arm_by(std::max(steady_clock::now(), last_list_ + kMcpRelistPause));
}

void McpConnection::list_again() {
  if (observer_ == nullptr || listing_) return;
  list_tools();
}

// The subscription stays open. When it ends, changes may have been missed.
void McpConnection::subscribe() {
  if (observer_ == nullptr) return;
  subscription_ = request("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}",
                          std::chrono::milliseconds(0), [this](std::expected<std::string, McpFailure> reply) {
                            subscription_ = 0;
                            bool never = !reply && reply.error().cause == McpFailure::Cause::error;
                            if (never && reply.error().code == kMethodNotFound) return;
                            resubscribe_.arm(steady_clock::now() + subscribe_pause_);
                            subscribe_pause_ = std::min(2 * subscribe_pause_, kMostMcpRetryPause);
                            list_changed();
                          });
}

}  // namespace shepherd
