#include "access/tickets.h"

#include <algorithm>
#include <utility>

#include "access/limits.h"

namespace shepherd {

bool Tickets::add(const Digest& ticket, const std::string& owner, std::shared_ptr<const Principal> principal,
                  std::int64_t steady_ms) {
  prune(steady_ms);
  if (auto own = owned_.find(owner); own != owned_.end()) {
    if (own->second.size() >= per_owner_ || known_.size() >= capacity_) {
      auto unused = std::ranges::find_if(own->second, [](Queue::iterator each) { return !each->used; });
      drop(unused == own->second.end() ? own->second.front() : *unused);
    }
  }
  if (known_.size() >= capacity_) return false;
  unused_.push_back({ticket, std::move(principal), steady_ms, false, {}, owner});
  known_.insert_or_assign(ticket, std::prev(unused_.end()));
  owned_[owner].push_back(std::prev(unused_.end()));
  return true;
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

void Tickets::drop_tokens(const std::unordered_set<std::string>& token_ids) {
  for (Queue* queue : {&unused_, &used_}) {
    for (auto at = queue->begin(); at != queue->end();) {
      auto each = at++;
      if (token_ids.contains(each->principal->token_id)) drop(each);
    }
  }
}

void Tickets::prune(std::int64_t steady_ms) {
  while (!unused_.empty() && steady_ms - unused_.front().since_ms > kTicketLife.count()) drop(unused_.begin());
  while (!used_.empty() && steady_ms - used_.front().since_ms > kTicketReconnect.count()) drop(used_.begin());
}

void Tickets::drop(Queue::iterator ticket) {
  known_.erase(ticket->digest);
  auto own = owned_.find(ticket->owner);
  own->second.remove(ticket);
  if (own->second.empty()) owned_.erase(own);
  (ticket->used ? used_ : unused_).erase(ticket);
}

bool LoginCodes::add(const Digest& code, const std::string& owner, Principal principal, std::int64_t steady_ms) {
  prune(steady_ms);
  if (auto own = owned_.find(owner); own != owned_.end()) {
    if (own->second.size() >= kLoginCodesPerToken || known_.size() >= kMaxLoginCodes) drop(own->second.front());
  }
  if (known_.size() >= kMaxLoginCodes) return false;
  codes_.push_back({code, std::move(principal), steady_ms, owner});
  known_.insert_or_assign(code, std::prev(codes_.end()));
  owned_[owner].push_back(std::prev(codes_.end()));
  return true;
}

std::optional<Principal> LoginCodes::take(const Digest& code, std::int64_t steady_ms) {
  prune(steady_ms);
  auto known = known_.find(code);
  if (known == known_.end()) return std::nullopt;
  Principal principal = std::move(known->second->principal);
  drop(known->second);
  return principal;
}

void LoginCodes::drop_tokens(const std::unordered_set<std::string>& token_ids) {
  for (auto at = codes_.begin(); at != codes_.end();) {
    auto each = at++;
    if (token_ids.contains(each->principal.token_id)) drop(each);
  }
}

void LoginCodes::prune(std::int64_t steady_ms) {
  while (!codes_.empty() && steady_ms - codes_.front().made_ms > kLoginLinkLife.count()) drop(codes_.begin());
}

void LoginCodes::drop(Queue::iterator code) {
  known_.erase(code->digest);
  auto own = owned_.find(code->owner);
  own->second.remove(code);
  if (own->second.empty()) owned_.erase(own);
  codes_.erase(code);
}

}  // namespace shepherd
