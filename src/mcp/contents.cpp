#include "mcp/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "json/scan.h"
#include "mcp/limits.h"
#include "mcp/message.h"

namespace shepherd {
namespace {

constexpr std::string_view kCutMark = "\n[The rest of this result was cut.]";

std::string label_of(std::string_view object, std::string_view key) {
  std::string text = shortened(text_member(object, key), kMaxMcpLabelBytes);
  for (char& c : text) {
    if (c >= 0 && c < 0x20) c = ' ';
  }
  return text;
}

// What backends take. One image of another type would make them refuse the whole conversation.
bool is_shown_type(std::string_view mime) {
  return mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" || mime == "image/webp";
}

class ContentReader {
 public:
  explicit ContentReader(ToolOutcome& outcome) : outcome_(outcome) {}

  void read(std::string_view block) {
    std::string type = label_of(block, "type");
    if (type == "text") {
      had_text_ = true;
      add(text_member(block, "text"));
    } else if (type == "image") {
      read_image(block, "data");
    } else if (type == "audio") {
      add(fmt::format("[audio, {}, {} bytes: not shown]", label_of(block, "mimeType"), data_bytes(block, "data")));
    } else if (type == "resource_link") {
      std::string mime = label_of(block, "mimeType");
      add(fmt::format("[resource {}: {}{}]", label_of(block, "name"), label_of(block, "uri"),
                      mime.empty() ? "" : ", " + mime));
    } else if (type == "resource") {
      read_resource(find_member(block, "resource"));
    } else {
      add(fmt::format("[content of type \"{}\": not shown]", type));
    }
  }
  bool had_text() const { return had_text_; }
  void add(std::string_view text) {
    if (cut_) return;
    if (begun_) outcome_.content += '\n';
    begun_ = true;
    std::size_t room = kMaxMcpResultBytes - std::min(kMaxMcpResultBytes, outcome_.content.size());
    if (text.size() <= room) {
      outcome_.content += text;
      return;
    }
    outcome_.content += shortened(text, room);
    outcome_.content += kCutMark;
    cut_ = true;
  }

 private:
  static std::size_t data_bytes(std::string_view block, std::string_view key) {
    return inside_quotes(find_member(block, key)).size() / 4 * 3;
  }
  void read_image(std::string_view block, std::string_view key) {
    std::string mime = label_of(block, "mimeType");
    std::string data = text_member(block, key);
    bool fits = outcome_.images.size() < kMaxMcpImages && data.size() <= kMaxMcpOneImageBytes &&
                image_bytes_ + data.size() <= kMaxMcpImageBytes;
    bool good = fits && is_shown_type(mime) && !data.empty() && decode_base64(data).has_value();
    add(fmt::format("[image, {}, {} bytes{}]", mime, data.size() / 4 * 3, good ? "" : ": not shown"));
    if (!good) return;
    image_bytes_ += data.size();
    outcome_.images.push_back({std::move(mime), std::move(data)});
  }
  void read_resource(std::string_view resource) {
    std::string uri = label_of(resource, "uri");
    std::string mime = label_of(resource, "mimeType");
    if (!find_member(resource, "text").empty()) {
      had_text_ = true;
      add(fmt::format("[resource {}]", uri));
      add(text_member(resource, "text"));
    } else if (mime.starts_with("image/")) {
      add(fmt::format("[resource {}]", uri));
      read_image(resource, "blob");
    } else {
      add(fmt::format("[resource {}, {}, {} bytes: not shown]", uri, mime, data_bytes(resource, "blob")));
    }
  }

  ToolOutcome& outcome_;
  std::size_t image_bytes_ = 0;
  bool begun_ = false, had_text_ = false, cut_ = false;
};

}  // namespace

ToolOutcome failed_tool(std::string_view why) {
  ToolOutcome outcome;
  bool marked = why.starts_with("Error: ");
  outcome.content = marked ? std::string(why) : fmt::format("Error: {}", why);
  return outcome;
}

ToolOutcome outcome_of(std::string_view result) {
  ToolOutcome outcome;
  ContentReader reader(outcome);
  for (std::string_view block :
       array_elements(find_member(result, "content")).value_or(std::vector<std::string_view>())) {
    if (block.starts_with('{')) reader.read(block);
  }
  std::string_view structured = find_member(result, "structuredContent");
  if (!structured.empty() && structured != "null" && !reader.had_text()) reader.add(structured);
  if (find_member(result, "isError") != "true") {
    outcome.success = true;
    return outcome;
  }
  ToolOutcome failed = failed_tool(outcome.content.empty() ? "the tool failed and gave no reason" : outcome.content);
  failed.images = std::move(outcome.images);
  return failed;
}

}  // namespace shepherd
