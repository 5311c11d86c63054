#include "sim_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shepherd::simulation {

void SimKeys::act(Replica& replica) {
  if (!replica.is_open()) return;
  if (keys_.empty() || random_.below(3) == 0) {
    return replica.access->create_token("key", Scope::admin, "", 0, [this, &replica](Result<NewToken> made) {
      if (!made) return;
      keys_.push_back({made->info.id, made->secret});
      EXPECT_TRUE(!replica.access || replica.access->authenticate(made->secret)) << "a new token works at once";
    });
  }
  const Key& key = keys_[random_.below(keys_.size())];
  replica.access->revoke_token(key.id, [this, &replica, id = key.id](Result<void> revoked) {
    if (!revoked) return;
    auto found = std::ranges::find(keys_, id, &Key::id);
    found->revoked = true;
    EXPECT_FALSE(replica.access && replica.access->authenticate(found->secret)) << "a revoked token ends at once";
  });
}

void SimKeys::check(const std::vector<std::unique_ptr<Replica>>& replicas, const EventStore& truth) const {
  auto stored = truth.records("token");
  ASSERT_TRUE(stored.has_value());
  for (const Key& key : keys_) {
    bool valid = stored->contains(key.id);
    EXPECT_FALSE(valid && key.revoked) << key.id << " was revoked";
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      EXPECT_EQ(replicas[i]->access->authenticate(key.secret).has_value(), valid)
          << "token " << key.id << (key.revoked ? ", revoked," : "") << " on replica " << i;
    }
  }
}

}  // namespace shepherd::simulation
