#include "access/tickets.h"
#include "access/limits.h"

#include <algorithm>
#include <utility>

namespace shepherd {

void Tickets::add(const Digest& ticket, std::shared_ptr<const Principal> principal, std::int64_t steady_ms) {
  prune(steady_ms);
  if (known_.size() >= capacity_) drop_front(unused_.empty() ? used_ : unused_);
  unused_.push_back({ticket, std::move(principal), steady_ms, false, {}});
  known_.insert_or_assign(ticket, std::prev(unused_.end()));
}

std::shared_ptr<const Principal> Tickets::use(const Digest& ticket, std::string_view stream, bool has_cursor,
                                              std::int64_t steady_ms) {
  prune(steady_ms);
  auto known = known_.find(ticket);
  if (known == known_.end()) return nullptr;
  Ticket& found = *known->second;
  if (found.used) return has_cursor && found.stream == stream ? found.principal : nullptr;
  found.used = true;
  found.stream = stream;
  found.since_ms = steady_ms;
  used_.splice(used_.end(), unused_, known->second);
  return found.principal;
}

void Tickets::drop_token(std::string_view token_id) {
  for (Queue* queue : {&unused_, &used_}) {
    queue->remove_if([&](const Ticket& ticket) {
      if (ticket.principal->token_id != token_id) return false;
      known_.erase(ticket.digest);
      return true;
    });
  }
}

void Tickets::prune(std::int64_t steady_ms) {
  while (!unused_.empty() && steady_ms - unused_.front().since_ms > kTicketLife.count()) drop_front(unused_);
  while (!used_.empty() && steady_ms - used_.front().since_ms > kTicketReconnect.count()) drop_front(used_);
}

void Tickets::drop_front(Queue& queue) {
  known_.erase(queue.front().digest);
  queue.pop_front();
}

void LoginCodes::add(const Digest& code, Principal principal, std::int64_t steady_ms) {
  if (codes_.size() >= kMaxLoginCodes) codes_.pop_front();
  codes_.push_back({code, std::move(principal), steady_ms});
}

std::optional<Principal> LoginCodes::take(const Digest& code, std::int64_t steady_ms) {
  std::erase_if(codes_, [&](const Code& known) { return steady_ms - known.made_ms > kLoginLinkLife.count(); });
  auto found = std::ranges::find(codes_, code, &Code::digest);
  if (found == codes_.end()) return std::nullopt;
  Principal principal = std::move(found->principal);
  codes_.erase(found);
  return principal;
}

void LoginCodes::drop_token(std::string_view token_id) {
  std::erase_if(codes_, [&](const Code& code) { return code.principal.token_id == token_id; });
}

}  // namespace shepherd
