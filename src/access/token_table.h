// The tokens in memory: found by the digest of their secret or by their public id. Knows nothing of the store but the
// form of its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "access/principal.h"
#include "access/secret.h"
#include "base/result.h"

namespace shepherd {

struct TokenInfo {
  std::string id;    // sortable id, not secret
  std::string name;  // person or program
  Scope scope = Scope::viewer;
  std::string only_task;
  std::int64_t created_ms = 0, expires_ms = 0;  // expires 0: never (admin file token)
  bool session = false;                         // a browser session, made by a login link
  std::string parent;  // session: the id of the token that asked for the link; it is revoked with it

  bool expired(std::int64_t now_ms) const { return expires_ms != 0 && now_ms >= expires_ms; }
};

struct TokenRecord {
  TokenInfo info;
  Digest digest;
};

// A token as the value of a store record of kind "token"; its key is the id.
std::string encode_token(const TokenRecord& record);
// nullopt: not a token record.
std::optional<TokenRecord> decode_token(std::string id, std::string_view text);

// Threads: caller.
class TokenTable {
 public:
  void put(TokenRecord record);
  bool remove(const std::string& id);  // false: there was none

  // A token, or a browser's session: neither is taken for the other. unauthenticated/bad_token, /token_expired.
  Result<std::shared_ptr<const Principal>> find(const Digest& digest, bool session, std::int64_t now_ms) const;
  // nullptr: unknown or expired. Valid until the next change.
  const TokenInfo* usable(const std::string& id, std::int64_t now_ms) const;
  bool contains(const std::string& id) const { return digests_.contains(id); }

  // That token and the sessions made with it, and with those: what a revocation takes. Empty: unknown.
  std::vector<std::string> family(const std::string& id) const;
  // The token that a session goes back to; itself for a token.
  std::string root(const std::string& id) const;
  // The sessions that must go so that one more of this token is within the bound: those that came first, and whatever
  // was made with them.
  std::vector<std::string> sessions_over(const std::string& root_id, std::size_t most) const;
  // The token (no session) of this name or id; nullptr: none, or several of that name.
  const TokenInfo* named(std::string_view name_or_id, std::int64_t now_ms) const;
  // Ids of sessions whose parent is not here.
  std::vector<std::string> orphans() const;

  std::vector<TokenInfo> list() const;                             // by id, so by age
  std::vector<std::string> expired(std::int64_t before_ms) const;  // ids of those that expired before that moment
  // The next moment at which a token expires; the largest number when none does.
  std::int64_t next_expiry(std::int64_t now_ms) const;
  std::size_t size() const { return digests_.size(); }

 private:
  struct Entry {
    TokenInfo info;
    std::shared_ptr<const Principal> principal;
  };

  std::unordered_map<Digest, Entry, DigestHash> entries_;
  std::unordered_map<std::string, Digest> digests_;                            // by id
  std::unordered_map<std::string, std::unordered_set<std::string>> children_;  // sessions by their parent
};

}  // namespace shepherd
