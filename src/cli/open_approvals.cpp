#include "cli/open_approvals.h"

#include <fmt/format.h>

#include "json/scan.h"

namespace shepherd {
namespace {

std::string listed(const std::vector<const OpenApproval*>& approvals) {
  std::string list;
  for (const OpenApproval* each : approvals) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : "; ", each->id, each->summary);
  }
  return list;
}

}  // namespace

std::vector<OpenApproval> open_approvals(std::string_view task_json) {
  std::vector<OpenApproval> open;
  auto elements = array_elements(find_member(task_json, "approvals"));
  if (!elements) return open;
  for (std::string_view each : *elements) {
    open.push_back({text_member(each, "approvalID"), text_member(each, "kind"), text_member(each, "tool"),
                    text_member(each, "summary"), count_value(find_member(each, "sequence")).value_or(0)});
  }
  return open;
}

Result<OpenApproval> choose_approval(const std::vector<OpenApproval>& open, std::string_view id) {
  std::vector<const OpenApproval*> fitting;
  std::vector<const OpenApproval*> all;
  for (const OpenApproval& each : open) {
    if (each.id == id) return each;
    if (each.id.starts_with(id)) fitting.push_back(&each);
    all.push_back(&each);
  }
  if (fitting.size() == 1) return *fitting.front();
  if (fitting.size() > 1) {
    return fail(ErrorCode::invalid_argument, "which_approval",
                fmt::format("the agent asks {} things; say which: {}", fitting.size(), listed(fitting)));
  }
  if (all.empty()) {
    return fail(ErrorCode::not_found, "no_approval",
                "the agent asks nothing now; \"shepherd watch TASK --types approval\" shows what it asked");
  }
  return fail(ErrorCode::not_found, "no_approval",
              fmt::format("the agent does not ask \"{}\" now; it asks: {}", id, listed(all)));
}

}  // namespace shepherd
