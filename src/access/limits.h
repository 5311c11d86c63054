// The bounds of access, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- ids and small fields ---
inline constexpr std::size_t kMaxTokenNameBytes = 100;

// --- access ---
inline constexpr std::chrono::milliseconds kTicketLife{30'000};        // life of an unused ticket
inline constexpr std::chrono::milliseconds kTicketReconnect{600'000};  // a ticket's stream may reconnect this long
inline constexpr std::chrono::milliseconds kLoginLinkLife{15 * 60'000};
inline constexpr std::chrono::hours kSessionLife{30 * 24};  // life of a browser's cookie
inline constexpr std::size_t kMaxTickets = 50'000;          // of all tokens together; more are refused
inline constexpr std::size_t kTicketsPerToken = 100;        // the token's oldest is evicted; each open stream needs one
inline constexpr std::size_t kAuditQueue = 65'536;         // records waiting for the disk; more are dropped and counted
inline constexpr std::size_t kAuditFileBytes = 64 * kMiB;  // an audit file is rotated at this size
inline constexpr int kAuditFiles = 4;
inline constexpr int kFailedLoginsPerMinute = 60;         // bad credentials per peer address; then 429
inline constexpr std::size_t kFailedLoginPeers = 10'000;  // remembered addresses; the quietest is evicted
inline constexpr std::size_t kMaxTokens = 100'000;        // including browser sessions; all are in memory
inline constexpr std::size_t kRevokedRemembered = 1'000;  // ids whose making may still be on its way in the stream
inline constexpr std::size_t kMaxLoginCodes = 10'000;     // open login links of all tokens together
inline constexpr std::size_t kLoginCodesPerToken = 20;    // open login links of one token; its oldest is evicted
inline constexpr std::size_t kSessionsPerToken = 200;     // browsers of one token; the oldest session is evicted
inline constexpr std::chrono::hours kExpiredTokenKeep{7 * 24};  // expired tokens are remembered this long
inline constexpr std::chrono::milliseconds kAuditFlush{250};    // records wait this long to be written together
inline constexpr std::size_t kAuditWriteBytes = 256 * kKiB;     // records written to the file in one piece

}  // namespace shepherd
