// The tokens in memory, by the digest of their secret or by their public id. Of the store it depends only on the form
// of the records.
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
  std::int64_t created_ms = 0, expires_ms = 0;  // expires is 0 for never (admin file token)
  bool session = false;                         // a browser session from a login link
  std::string parent;  // for a session: the token that requested the link; revoking it revokes the session

  bool expired(std::int64_t now_ms) const { return expires_ms != 0 && now_ms >= expires_ms; }
};

struct TokenRecord {
  TokenInfo info;
  Digest digest;
};

// A token as the value of a store record of kind "token"; its key is the id.
std::string encode_token(const TokenRecord& record);
// Returns nullopt if it is not a token record.
std::optional<TokenRecord> decode_token(std::string id, std::string_view text);

// Threads: caller.
class TokenTable {
 public:
  void put(TokenRecord record);
  bool remove(const std::string& id);  // false if there was none

  // Finds a token or a browser's session; neither is accepted as the other. unauthenticated/bad_token, /token_expired.
  Result<std::shared_ptr<const Principal>> find(const Digest& digest, bool session, std::int64_t now_ms) const;
  // Returns nullptr if unknown or expired. Valid until the next change.
  const TokenInfo* usable(const std::string& id, std::int64_t now_ms) const;
  bool contains(const std::string& id) const { return digests_.contains(id); }

  // The token, its sessions, and sessions made with those: everything that a revocation removes. Empty if unknown.
  std::vector<std::string> family(const std::string& id) const;
  // The token from which a session derives; for a token, itself.
  std::string root(const std::string& id) const;
  // The sessions to evict so that one more of this token fits: the oldest ones and the sessions made with them.
  std::vector<std::string> sessions_over(const std::string& root_id, std::size_t most) const;
  // The token (not a session) with this name or id; nullptr if there is none, or several with that name.
  const TokenInfo* named(std::string_view name_or_id, std::int64_t now_ms) const;
  // Ids of sessions whose parent is not in the table.
  std::vector<std::string> orphans() const;

  std::vector<TokenInfo> list() const;                             // by id, which is by age
  std::vector<std::string> expired(std::int64_t before_ms) const;  // ids of tokens that expired before that time
  // The next time at which a token expires; the largest number if none does.
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
