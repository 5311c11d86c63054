#include "tools/search_sessions.h"

#include <fmt/format.h>

#include <utility>

#include "base/clock.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kSearchProperties =
    R"({"query":{"type":"string","description":"Words that must all occur"},)"
    R"("limit":{"type":"integer","description":"Default 10"}})";

ToolOutcome found_outcome(const std::vector<FoundMessage>& found, const std::string& session) {
  std::string text;
  for (const FoundMessage& each : found) {
    std::string time;
    append_timestamp(time, each.time_ms);
    text += fmt::format("{} session {}{}, {}: {}\n", time, each.session, each.session == session ? " (this one)" : "",
                        each.role, shown_line(each.text, kMaxToolResultBytes / (2 * kMaxFoundMessages)));
  }
  std::string summary = fmt::format("Found {} {}", found.size(), found.size() == 1 ? "message" : "messages");
  if (text.empty()) text = "[No message has these words.]";
  return good_outcome(bounded_result(std::move(text), "\n[More is left out.]"), std::move(summary));
}

class SearchSessions final : public BuiltInTool {
 public:
  SearchSessions(SearchMessages search, Executor& loop, Executor& blocking)
      : search_(std::make_shared<SearchMessages>(std::move(search))), loop_(loop), blocking_(blocking) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return "Searches past sessions for " + shown_line(arguments.shown("query"), kMaxDescribedCharacters);
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& use, const Arguments& arguments, ToolAnswer answer) override {
    auto query = arguments.text("query");
    if (query && query->size() > kMaxSessionQueryBytes) {
      query = fail(ErrorCode::invalid_argument, "bad_tool_arguments",
                   fmt::format("\"query\" must have at most {} bytes.", kMaxSessionQueryBytes));
    }
    if (!query) return answer_later(loop_, failed_outcome(query.error().message), std::move(answer));
    auto limit = arguments.number_or("limit", kFoundMessages, 1, kMaxFoundMessages);
    if (!limit) return answer_later(loop_, failed_outcome(limit.error().message), std::move(answer));
    auto work = [search = search_, query = *std::move(query), limit = *limit, session = use.session] {
      auto found = (*search)(query, static_cast<std::size_t>(limit));
      if (!found) return failed_outcome(found.error().message);
      return found_outcome(*found, session);
    };
    return run_beside(loop_, blocking_, std::move(work), std::move(answer));
  }

 private:
  std::shared_ptr<SearchMessages> search_;
  Executor& loop_;
  Executor& blocking_;
  const Tool tool_ = built_in_tool("search_sessions", "Searches the messages of all chat sessions, newest first.",
                                   kSearchProperties, R"(["query"])", false);
};

}  // namespace

std::unique_ptr<BuiltInTool> make_search_sessions(SearchMessages search, Executor& loop, Executor& blocking) {
  return std::make_unique<SearchSessions>(std::move(search), loop, blocking);
}

}  // namespace shepherd
