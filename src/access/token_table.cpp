#include "access/token_table.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <utility>

namespace shepherd {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

std::int64_t number_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  const std::int64_t* number = value == nullptr ? nullptr : value->if_int64();
  return number == nullptr ? 0 : *number;
}

}  // namespace

std::string encode_token(const TokenRecord& record) {
  const TokenInfo& info = record.info;
  return json::serialize(json::object{{"sha256", to_hex(record.digest)},
                                      {"name", info.name},
                                      {"scope", name(info.scope)},
                                      {"onlyTask", info.only_task},
                                      {"created", info.created_ms},
                                      {"expires", info.expires_ms},
                                      {"session", info.session},
                                      {"parent", info.parent}});
}

std::optional<TokenRecord> decode_token(std::string id, std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  auto digest = digest_from_hex(text_of(*object, "sha256"));
  auto scope = scope_named(text_of(*object, "scope"));
  if (!digest || !scope) return std::nullopt;
  const json::value* session = object->if_contains("session");
  TokenInfo info{.id = std::move(id),
                 .name = text_of(*object, "name"),
                 .scope = *scope,
                 .only_task = text_of(*object, "onlyTask"),
                 .created_ms = number_of(*object, "created"),
                 .expires_ms = number_of(*object, "expires"),
                 .session = session != nullptr && session->is_bool() && session->get_bool(),
                 .parent = text_of(*object, "parent")};
  return TokenRecord{std::move(info), *digest};
}

void TokenTable::put(TokenRecord record) {
  remove(record.info.id);
  auto principal = std::make_shared<const Principal>(
      Principal{record.info.id, record.info.name, record.info.scope, record.info.only_task});
  digests_.emplace(record.info.id, record.digest);
  if (!record.info.parent.empty()) children_[record.info.parent].insert(record.info.id);
  entries_.insert_or_assign(record.digest, Entry{std::move(record.info), std::move(principal)});
}

bool TokenTable::remove(const std::string& id) {
  auto known = digests_.find(id);
  if (known == digests_.end()) return false;
  auto entry = entries_.find(known->second);
  if (auto siblings = children_.find(entry->second.info.parent); siblings != children_.end()) {
    siblings->second.erase(id);
    if (siblings->second.empty()) children_.erase(siblings);
  }
  entries_.erase(entry);
  digests_.erase(known);
  return true;
}

Result<std::shared_ptr<const Principal>> TokenTable::find(const Digest& digest, bool session,
                                                          std::int64_t now_ms) const {
  auto entry = entries_.find(digest);
  if (entry == entries_.end() || entry->second.info.session != session) {
    return fail(ErrorCode::unauthenticated, "bad_token", "this token is not known here; it may have been revoked");
  }
  if (entry->second.info.expired(now_ms)) {
    return fail(ErrorCode::unauthenticated, "token_expired", "this token has expired; ask for a new one");
  }
  return entry->second.principal;
}

const TokenInfo* TokenTable::usable(const std::string& id, std::int64_t now_ms) const {
  auto known = digests_.find(id);
  if (known == digests_.end()) return nullptr;
  const TokenInfo& info = entries_.at(known->second).info;
  return info.expired(now_ms) ? nullptr : &info;
}

std::vector<std::string> TokenTable::family(const std::string& id) const {
  std::vector<std::string> out;
  if (!contains(id)) return out;
  out.push_back(id);
  for (std::size_t known = 0; known < out.size() && out.size() <= digests_.size(); ++known) {
    if (auto made = children_.find(out[known]); made != children_.end()) {
      out.insert(out.end(), made->second.begin(), made->second.end());
    }
  }
  return out;
}

std::string TokenTable::root(const std::string& id) const {
  std::string at = id;
  for (std::size_t steps = 0; steps <= digests_.size(); ++steps) {
    auto known = digests_.find(at);
    if (known == digests_.end()) return at;
    const TokenInfo& info = entries_.at(known->second).info;
    if (!info.session || info.parent.empty()) return at;
    at = info.parent;
  }
  return at;
}

std::vector<std::string> TokenTable::sessions_over(const std::string& root_id, std::size_t most) const {
  std::vector<std::string> sessions = family(root_id);
  std::vector<std::string> out;
  if (sessions.size() <= most) return out;  // the root itself is counted in place of the new session
  std::ranges::sort(sessions);
  std::unordered_set<std::string> going;
  std::size_t excess = sessions.size() - most;
  for (const std::string& id : sessions) {
    if (going.size() >= excess) break;
    if (id == root_id || going.contains(id)) continue;
    for (std::string& gone : family(id)) {
      if (going.insert(gone).second) out.push_back(std::move(gone));
    }
  }
  return out;
}

const TokenInfo* TokenTable::named(std::string_view name_or_id, std::int64_t now_ms) const {
  const TokenInfo* found = nullptr;
  for (const auto& [digest, entry] : entries_) {
    const TokenInfo& info = entry.info;
    if (info.session || info.expired(now_ms)) continue;
    if (info.id == name_or_id) return &info;
    if (info.name != name_or_id) continue;
    if (found != nullptr) return nullptr;
    found = &info;
  }
  return found;
}

std::vector<std::string> TokenTable::orphans() const {
  std::vector<std::string> out;
  for (const auto& [digest, entry] : entries_) {
    if (!entry.info.parent.empty() && !contains(entry.info.parent)) out.push_back(entry.info.id);
  }
  return out;
}

std::vector<TokenInfo> TokenTable::list() const {
  std::vector<TokenInfo> out;
  out.reserve(entries_.size());
  for (const auto& [digest, entry] : entries_) out.push_back(entry.info);
  std::ranges::sort(out, {}, &TokenInfo::id);
  return out;
}

std::vector<std::string> TokenTable::expired(std::int64_t before_ms) const {
  std::vector<std::string> out;
  for (const auto& [digest, entry] : entries_) {
    if (entry.info.expired(before_ms)) out.push_back(entry.info.id);
  }
  return out;
}

std::int64_t TokenTable::next_expiry(std::int64_t now_ms) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const auto& [digest, entry] : entries_) {
    if (entry.info.expires_ms > now_ms) next = std::min(next, entry.info.expires_ms);
  }
  return next;
}

}  // namespace shepherd
