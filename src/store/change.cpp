#include "store/change.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "store/event_store.h"

namespace shepherd {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string encode_place(const Place& place) {
  return std::to_string(place.position) + "." + std::to_string(place.change);
}

std::optional<Place> decode_place(std::string_view text) {
  std::size_t dot = text.find('.');
  auto position = number_in(text.substr(0, dot));
  auto change = dot == std::string_view::npos ? std::uint64_t{0} : number_in(text.substr(dot + 1));
  if (!position || !change) return std::nullopt;
  return Place{*position, *change};
}

void align(ChangePage& page, Place after, bool more_batches, bool more_changes) {
  std::uint64_t position = more_batches && !page.batches.empty() ? page.batches.back()->last_position()
                                                                 : std::max(page.newest.position, after.position);
  // A change that is not in the page may come right after the last one that is.
  if (more_changes && !page.changes.empty()) position = std::min(position, page.changes.back().after);
  position = std::max(position, after.position);
  std::erase_if(page.batches, [&](const BatchPtr& batch) { return batch->last_position() > position; });
  std::erase_if(page.changes, [&](const Change& change) { return change.after > position; });
  page.through.position = position;
  page.through.change = page.changes.empty() ? after.change : page.changes.back().number;
  SHEPHERD_ASSERT(page.through.covers(after), "a page never leads back");
}

}  // namespace shepherd
