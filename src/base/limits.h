// Every bound of the product, with its reason. A bound that is not here does not exist. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shepherd {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// --- ids and small fields ---
inline constexpr std::size_t kMaxTaskIdBytes = 128;
inline constexpr std::size_t kMaxEventIdBytes = 64;
inline constexpr std::size_t kMaxProducerIdBytes = 128;
inline constexpr std::size_t kMaxTypeBytes = 64;  // an event's `type`
inline constexpr std::size_t kMaxTokenNameBytes = 100;
inline constexpr std::size_t kMaxLabels = 64;       // per task
inline constexpr std::size_t kMaxLabelBytes = 256;  // key or value

// --- events ---
inline constexpr std::size_t kMaxEventBytes =
    256 * kKiB;  // after condensing; what every consumer must take in one piece
inline constexpr std::size_t kMaxEventsPerPost = 10'000;
inline constexpr std::size_t kMaxJsonDepth = 64;           // nesting of an event; deeper is refused, not recursed into
inline constexpr std::size_t kMaxDetailBytes = 8 * kMiB;   // full content and raw record of one event, before zstd
inline constexpr std::size_t kMaxSummaryCharacters = 500;  // one human line
inline constexpr std::size_t kMaxDeltaBytes = 64 * kKiB;   // one live text delta

// --- condensing (defaults; configurable) ---
inline constexpr std::size_t kCondensedCommandCharacters = 500;
inline constexpr std::size_t kCondensedResultCharacters = 200;
inline constexpr std::size_t kCondensedStringCharacters = 500;

// --- tasks ---
inline constexpr std::size_t kMaxTaskBodyBytes = 2 * kMiB;
inline constexpr std::size_t kMaxContextBytes = 1 * kMiB;  // 413 above: context is staged as a file, not a database

// --- fire-and-forget producers ---
inline constexpr std::chrono::milliseconds kReorderWait{2000};  // how long an early number waits for its predecessors
inline constexpr std::size_t kReorderEvents = 64;               // and how many may wait, per task

// --- HTTP ---
inline constexpr std::size_t kMaxHeaderBytes = 32 * kKiB;            // request line and all headers together
inline constexpr std::size_t kMaxBodyBytes = 16 * kMiB;              // any request body unless its route says less
inline constexpr std::size_t kMaxConnections = 20'000;               // per listener; more are answered 503 and closed
inline constexpr std::size_t kReadBufferBytes = 64 * kKiB;           // one per io thread, shared by its connections
inline constexpr std::chrono::milliseconds kHeaderDeadline{10'000};  // first byte of a request to its last header
inline constexpr std::chrono::milliseconds kBodyDeadline{60'000};    // last header to the end of the body
inline constexpr std::chrono::milliseconds kIdleDeadline{75'000};    // keep-alive without a request
inline constexpr std::chrono::milliseconds kWriteDeadline{30'000};   // a peer that takes nothing for this long is dead
inline constexpr std::chrono::milliseconds kKeepAlive{15'000};       // SSE keepalive event, WebSocket ping
inline constexpr std::chrono::milliseconds kTlsHandshakeDeadline{10'000};
inline constexpr std::chrono::milliseconds kDrainDeadline{5'000};  // graceful shutdown waits this long for responses
inline constexpr std::size_t kMaxHeaders = 100;                    // per request; more only serve to burn time
inline constexpr std::size_t kMaxChunkLineBytes = 256;             // size line of a chunk, with its extensions
inline constexpr std::size_t kInlineBodyBytes = 16 * kKiB;  // response bodies up to this are copied behind their head
inline constexpr std::size_t kRefusedConnections = 64;      // over kMaxConnections: how many wait for their 503 at once
inline constexpr std::size_t kSweepSlice = 256;             // connections looked at in one go: a sweep delays nobody
inline constexpr std::size_t kMaxClientResponseBytes = 256 * kMiB;  // our own clients: pages and exports, not more
inline constexpr int kReadsPerTurn = 4;  // of one connection, before the others get their turn
inline constexpr int kAcceptsPerTurn = 64;
inline constexpr int kListenBacklog = 4'096;                        // a fleet that reconnects at once
inline constexpr std::chrono::milliseconds kSweepInterval{1'000};   // how often deadlines and ticks are looked at
inline constexpr std::chrono::milliseconds kLingerDeadline{2'000};  // last byte sent to the peer's own close
inline constexpr std::chrono::milliseconds kAcceptPause{100};       // out of descriptors: no accepting for this long

// --- WebSocket ---
inline constexpr std::size_t kMaxWebSocketMessageBytes = 64 * kKiB;  // what a client may send (commands, subscriptions)
inline constexpr int kMissedPongs = 2;                               // pings without any answer before a peer is dead

// --- feeds and hub ---
inline constexpr std::size_t kPageEvents = 500;  // default JSON page
inline constexpr std::size_t kMaxPageEvents = 5'000;
inline constexpr std::size_t kMaxPageBytes = 8 * kMiB;  // a page ends early rather than grow past this
inline constexpr std::size_t kFeedReadEvents = 4'096;   // one store read of a feed that is behind
inline constexpr std::size_t kFeedReadBytes =
    128 * kKiB;                                          // and its bytes: what a consumer that then stalls holds on to
inline constexpr std::size_t kTailEvents = 1'000;        // newest events of a task kept in memory
inline constexpr std::size_t kAllTailEvents = 16'384;    // the same for the log of all tasks
inline constexpr std::size_t kTailBytes = 32 * kMiB;     // and at most this much of it
inline constexpr std::size_t kSegmentBytes = 64 * kKiB;  // framed bytes come in pieces; a stalled consumer pins one
inline constexpr std::size_t kHubBytes = 256 * kMiB;     // all tails together
inline constexpr std::chrono::milliseconds kTailLinger{300'000};  // a tail without consumers is dropped after this
inline constexpr std::size_t kPositionEvery = 1'000;              // filtered events between `position` messages
inline constexpr std::chrono::milliseconds kPositionInterval{5'000};
inline constexpr std::size_t kMaxFeedTasks = 1'000;  // ?tasks= and subscriptions of one multiplexed feed
inline constexpr std::chrono::milliseconds kTaskUpdateInterval{250};  // task_update: at most 4 a second per task
inline constexpr std::chrono::milliseconds kHeadSweep{1'000};         // how often lost bus hints are repaired
inline constexpr std::size_t kFeedsPerTurn = 64;    // feeds an io thread serves before it looks at its sockets again
inline constexpr std::size_t kPendingDeltas = 256;  // per task; the oldest is dropped first

// --- writing ---
inline constexpr std::size_t kMaxQueuedWrites = 65'536;  // operations waiting for the writer; then 503 with Retry-After
inline constexpr std::size_t kMaxQueuedWriteBytes = 128 * kMiB;
inline constexpr std::size_t kMaxCommitBytes = 8 * kMiB;  // one group commit takes at most this much
inline constexpr std::size_t kMaxRunEvents = 1'024;       // events in one stored row
inline constexpr std::size_t kMaxRunBytes = 256 * kKiB;
inline constexpr std::size_t kHeadCacheTasks = 10'000;  // task heads the writer keeps in memory
inline constexpr std::size_t kProjectEvery = 20'000;    // events between flushes of unchanged-state projections
inline constexpr std::size_t kMaxLooseHoles = 4'096;    // missing numbers remembered per fire-and-forget producer

// --- SQLite ---
inline constexpr std::size_t kWalSoftBytes = 16 * kMiB;       // the checkpoint thread starts here
inline constexpr std::size_t kWalHardBytes = 256 * kMiB;      // here the writer itself checkpoints and waits
inline constexpr std::chrono::milliseconds kBusyWait{5'000};  // another process holds the database
inline constexpr std::size_t kReadConnections = 4;
inline constexpr std::size_t kWalRestBytes = 2 * kMiB;      // what the writer copies itself so that the log starts over
inline constexpr int kSqlitePageBytes = 8192;               // of new files; measured against 4 and 16 KiB
inline constexpr std::size_t kWriterCacheBytes = 8 * kMiB;  // page cache of the writing connection
inline constexpr std::size_t kReaderCacheBytes = 1 * kMiB;  // and of each reading one; the kernel caches the rest
inline constexpr std::chrono::milliseconds kIdleProject{
    1'000};                                              // without writes for this long, projections are written
inline constexpr std::size_t kMaxUnplacedRuns = 16'384;  // runs whose places wait in memory to be written together
inline constexpr int kVacuumPages = 256;                 // pages given back to the file system in one step

// --- retention ---
inline constexpr int kRetentionDays = 30;
inline constexpr std::uint64_t kRetentionBytes = 0;        // 0: no bound by size
inline constexpr std::size_t kRetentionRunsPerStep = 500;  // rows one retention step deletes, so that writes go between

// --- search ---
inline constexpr std::size_t kMaxQueryBytes = 1'000;
inline constexpr std::size_t kSearchResults = 50;
inline constexpr std::size_t kMaxSearchResults = 500;
inline constexpr int kIndexRestRatio =
    3;  // while events come in, the indexer rests this many times as long as it works
inline constexpr std::size_t kIndexBatchEvents = 2'000;         // events per indexing transaction
inline constexpr std::size_t kMaxIndexedBytes = 8 * kKiB;       // text of one event that is indexed
inline constexpr std::chrono::milliseconds kIndexRetry{1'000};  // after the store or the index failed

// --- access ---
inline constexpr std::chrono::milliseconds kTicketLife{30'000};        // unused ticket
inline constexpr std::chrono::milliseconds kTicketReconnect{600'000};  // its own stream may reconnect for this long
inline constexpr std::chrono::milliseconds kLoginLinkLife{15 * 60'000};
inline constexpr std::chrono::hours kSessionLife{30 * 24};  // browser cookie
inline constexpr std::chrono::hours kTokenLife{365 * 24};   // tokens made without --expires
inline constexpr std::size_t kMaxTickets = 10'000;
inline constexpr std::size_t kAuditQueue = 65'536;         // records waiting for the disk; more are counted as dropped
inline constexpr std::size_t kAuditFileBytes = 64 * kMiB;  // then rotated
inline constexpr int kAuditFiles = 4;
inline constexpr int kFailedLoginsPerMinute = 60;         // bad credentials per peer address; then 429
inline constexpr std::size_t kFailedLoginPeers = 10'000;  // addresses remembered; the longest quiet is forgotten first
inline constexpr std::size_t kMaxTokens = 100'000;        // browser sessions among them; all are held in memory
inline constexpr std::size_t kMaxLoginCodes = 1'000;      // open login links; the oldest is dropped first
inline constexpr std::chrono::hours kExpiredTokenKeep{7 * 24};  // so long "expired" is told, then "unknown"
inline constexpr std::chrono::milliseconds kAuditFlush{250};    // records wait this long to be written together

// --- clients ---
inline constexpr std::chrono::milliseconds kClientTimeout{30'000};   // one request of a command-line program
inline constexpr std::chrono::milliseconds kConnectTimeout{10'000};  // a WebSocket handshake
inline constexpr std::chrono::milliseconds kLiveReadSlice{250};      // how soon a follower notices that it should stop
inline constexpr std::chrono::milliseconds kLiveQuiet{30'000};       // a follower that hears nothing for this long asks
inline constexpr std::chrono::milliseconds kLiveAnswer{10'000};      // and then waits this long for any answer
inline constexpr std::chrono::milliseconds kReconnectFirst{100};     // pause before the first reconnect; doubles
inline constexpr std::chrono::milliseconds kReconnectMost{5'000};    // up to this, so that a restart is noticed soon
inline constexpr int kMaxLiveHoles = 5;                              // reconnects that find the same event missing
inline constexpr std::size_t kMaxLiveTasks = 100'000;                // logs whose numbering one follower checks
inline constexpr std::size_t kMaxInputLineBytes = 16 * kMiB;  // one line of standard input: an event with its detail
inline constexpr std::size_t kPostLines = 1'000;              // events in one request of post and import
inline constexpr std::size_t kPostBytes = 1 * kMiB;           // and about this many bytes

// --- the server process ---
inline constexpr std::chrono::milliseconds kServerTick{250};  // reordered events wait at most this long too long
inline constexpr std::chrono::milliseconds kRetentionInterval{60'000};
inline constexpr std::size_t kMaxIoThreads = 4;  // by default; more cores serve better as ingest
inline constexpr std::size_t kLanes = 2;         // blocking store reads in parallel
inline constexpr int kMallocArenas = 4;          // each keeps freed memory to itself
inline constexpr int kMallocKeepBytes =
    2 * static_cast<int>(kMiB);  // of it, so that pages of a replay are not faulted in again

// --- HTTP API ---
inline constexpr std::size_t kTaskPage = 100;  // default list of tasks
inline constexpr std::size_t kMaxTaskPage = 1'000;
inline constexpr std::size_t kMaxSmallBodyBytes = 64 * kKiB;  // tokens, status updates without payload, patches
inline constexpr std::size_t kInlineDecodeBytes =
    256 * kKiB;  // larger bodies are decoded on a lane, not on an io thread
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;
inline constexpr std::size_t kMaxFilterTypes = 32;      // unknown names in ?types=
inline constexpr std::size_t kMaxPageScan = 200'000;    // events a filtered page looks at before it ends early
inline constexpr std::size_t kMaxTailScan = 1'000'000;  // events a filtered tail looks back over
inline constexpr std::chrono::milliseconds kProducerTrail{60'000};  // posts of a connection that share an audit record
inline constexpr std::chrono::milliseconds kReadinessCache{1'000};  // probes do not write more often than this
inline constexpr std::size_t kMaxPendingReplies = 64 * kKiB;        // answers a WebSocket client leaves unread

// --- model ---
inline constexpr std::size_t kMinSecretBytes = 6;      // exact secret values below this would be found everywhere
inline constexpr int kMaxRedactRounds = 4;             // replacing can lay bare a neighbour; more rounds are unheard of
inline constexpr std::size_t kMaxUsageSessions = 256;  // sessions of one task whose totals are kept apart
inline constexpr std::size_t kParserKeepBytes = 1 * kMiB;  // a thread keeps a JSON parser for bodies up to this size

// --- steering ---
inline constexpr std::size_t kMaxTaskCommands = 64;    // newest commands in a task's state; as many may be open
inline constexpr std::size_t kMaxTaskApprovals = 64;   // open ones in a task's state; an agent asks a few at a time
inline constexpr std::size_t kMaxCommandIdBytes = 56;  // "command:" and the id are the event's id
inline constexpr std::size_t kMaxCapabilitiesBytes = 4 * kKiB;  // a dozen short names
inline constexpr std::size_t kMaxRunnerIdBytes = 128;
inline constexpr std::size_t kMaxCommandArguments = 1'000;  // argv of a task that is a command line
inline constexpr std::size_t kMaxClaimAgents = 64;          // dialects one runner speaks
inline constexpr std::size_t kMaxParkedClaims = 10'000;     // claims that wait for a task at the same time
inline constexpr std::int64_t kMaxClaimWaitSeconds = 30;    // below what proxies give an idle request
inline constexpr std::int64_t kLeaseSeconds = 30;           // a runner that says nothing for this long is lost
inline constexpr std::int64_t kMaxLeaseSeconds = 3'600;
inline constexpr std::uint64_t kMaxSilentClaims = 3;      // runners that take a task and are never heard of again
inline constexpr std::int64_t kTimeoutGraceSeconds = 60;  // for the runner to end a task that ran out of time itself
inline constexpr std::chrono::milliseconds kWatchCursorInterval{5'000};  // what a restart reads again, at most
inline constexpr std::chrono::milliseconds kTokenCommandTimeout{30'000};
inline constexpr std::size_t kMaxTokenBytes = 16 * kKiB;                // of a repository credential
inline constexpr std::size_t kTokenThreads = 2;                         // a provider may take its time
inline constexpr std::chrono::milliseconds kCallbackTimeout{10'000};    // one attempt, answer included
inline constexpr std::int64_t kCallbackAttempts = 12;                   // with the pauses below: about half an hour
inline constexpr std::int64_t kCallbackThreads = 4;                     // one slow receiver must not hold up the others
inline constexpr std::chrono::milliseconds kCallbackFirstPause{1'000};  // before the second attempt; doubles
inline constexpr std::chrono::milliseconds kCallbackMostPause{600'000};
inline constexpr std::chrono::milliseconds kCallbackTakeover{300'000};  // a claim older than this has no owner any more
inline constexpr int kBreakerFailures = 5;                              // in a row, then a host is left alone
inline constexpr std::chrono::milliseconds kBreakerPause{30'000};       // for this long
inline constexpr std::size_t kBreakerHosts = 1'000;                     // whose failures are remembered
inline constexpr std::size_t kMaxCallbackAnswerBytes = 1 * kMiB;        // nobody reads it
inline constexpr std::size_t kMaxUrlBytes = 2'048;

// --- commands and drivers ---
inline constexpr std::size_t kMaxCommandBytes = 1 * kMiB;  // one command: a steering text or a changed tool input
inline constexpr std::int64_t kCommandExpirySeconds = 60;  // a command nobody took by then is expired, unless it says
inline constexpr std::int64_t kMaxCommandExpirySeconds = 24 * 3600;
inline constexpr std::size_t kMaxAgentLineBytes = 64 * kMiB;   // one line an agent prints; a longer one is cut
inline constexpr std::size_t kMaxAgentIdBytes = 256;           // an agent's own id of a call, session or request
inline constexpr std::size_t kMaxEventTextBytes = 16 * kKiB;   // an agent's text in an event; the detail has all of it
inline constexpr std::size_t kMaxEventDataBytes = 128 * kKiB;  // any event's `data` before it is cut
inline constexpr std::size_t kTextSummaryCharacters = 200;     // of an agent's text as one human line
inline constexpr std::size_t kMaxOpenCalls = 10'000;           // tool calls without a result that are remembered
inline constexpr std::size_t kOpenMessages = 256;         // newest messages of an agent whose numbers may still change
inline constexpr std::size_t kMaxBatchBytes = 64 * kMiB;  // an agent's whole output in the batch formats
inline constexpr std::chrono::milliseconds kTextJoinWait{250};  // plain lines this close together are one event
inline constexpr std::size_t kTextJoinBytes = 8 * kKiB;         // and at most this much of them
inline constexpr std::size_t kStderrTailBytes = 4 * kKiB;       // newest error output, to say why an agent ended

// --- gRPC ---
inline constexpr std::size_t kMaxStreamTasks = 1'000;         // a stream may name, each with a feed of its own
inline constexpr std::size_t kMaxRpcStreams = 10'000;         // open at a time
inline constexpr int kMaxRpcRequestBytes = 1024 * 1024;       // a request names tasks, no more
inline constexpr std::size_t kMaxSessionEvents = 1'000;       // GetSession answers with
inline constexpr std::chrono::milliseconds kRpcDrain{5'000};  // calls may still finish when the server ends

// --- inbox, timeline, findings, stats ---
inline constexpr std::chrono::milliseconds kInboxShowsFailed{86'400'000};  // a task that failed longer ago is history
inline constexpr std::chrono::milliseconds kInboxSweep{20'000};  // between two looks for agents that have gone quiet
inline constexpr std::chrono::milliseconds kInboxUpdateInterval{500};  // inbox_update: at most 2 a second
inline constexpr std::size_t kInboxPage = 100;                         // entries in one answer, unless it says
inline constexpr std::size_t kMaxInboxPage = 1'000;
inline constexpr std::size_t kMaxInboxTasks = 20'000;  // tasks that need somebody at once; nobody reads further
inline constexpr std::size_t kTimelineBuckets = 200;   // of a time bar, unless it says
inline constexpr std::size_t kMaxTimelineBuckets = 2'000;
inline constexpr std::size_t kMaxTimelineMarks = 500;         // a time bar has no more pixels for them
inline constexpr std::size_t kMaxTimelineEvents = 2'000'000;  // the newest of a log; 10 bytes of memory each
inline constexpr std::size_t kFindingPage = 100;              // findings in one answer, unless it says
inline constexpr std::size_t kMaxFindingPage = 1'000;
inline constexpr std::uint64_t kMaxStatsPoints = 1'000;        // of one curve
inline constexpr std::size_t kMaxStatsSeries = 20;             // curves a chart can show; the rest is one, "other"
inline constexpr std::size_t kMaxStatsTools = 50;              // the most used ones
inline constexpr std::size_t kLedgerBatchEvents = 5'000;       // events per transaction of the ledger
inline constexpr std::size_t kMaxOpenToolCalls = 10'000;       // that wait for their result, to know how long it took
inline constexpr std::size_t kMaxLedgerKeyBytes = 128;         // of a tool's, agent's or model's name
inline constexpr std::chrono::milliseconds kLedgerPause{100};  // after a batch: what comes meanwhile shares the next
inline constexpr int kLedgerDays =
    400;  // figures are kept this long, unless retention.stats_days says: a year and a month
inline constexpr int kLedgerMinuteDays = 32;  // by the minute; older ones by the quarter of an hour, a fifteenth of it
inline constexpr std::uint64_t kLedgerBytes = 512 * kMiB;  // and while they are smaller: a busy fleet's year is 400 MiB
inline constexpr std::chrono::milliseconds kLedgerTrimInterval{
    600'000};  // between two looks for figures that are too old

// --- checking agents: shepherd agent test ---
inline constexpr std::chrono::milliseconds kAgentAnswer{10'000};     // for an agent to react, unless --timeout says
inline constexpr std::chrono::milliseconds kAgentRun{120'000};       // for a run of the harness's small task to its end
inline constexpr std::chrono::milliseconds kAgentQuiet{500};         // an interrupted agent is watched this long
inline constexpr std::chrono::milliseconds kAgentTooQuick{250};      // an agent done by then could not have reacted
inline constexpr std::chrono::milliseconds kAgentStartWait{30'000};  // a command to listen; compilers may be part of it
inline constexpr std::chrono::milliseconds kAgentEndsWait{10'000};   // after SIGTERM, then it is killed
inline constexpr std::chrono::milliseconds kAgentLook{20};           // between two looks at a process or an address
inline constexpr std::chrono::milliseconds kAgentClockSlack{300'000};  // between the agent's clock and this one
inline constexpr std::size_t kFloodMessages = 50;                      // of output within a second
inline constexpr std::size_t kFloodBytes = 100;                        // when they are smaller than this on average
inline constexpr std::size_t kMaxTranscriptMessages = 100'000;         // of one stream; more are read and not kept

// --- terminal, hooks and imports ---
inline constexpr std::chrono::milliseconds kReplayIdle{3'000};   // replay: longer pauses of a log are shortened to this
inline constexpr std::size_t kReplayPage = 500;                  // and it reads this many events at once
inline constexpr std::chrono::milliseconds kSettleSlack{5'000};  // after a command's expiry, for the server to say so
inline constexpr std::size_t kMaxHookBytes = 8 * kMiB;           // one hook call of an agent; a larger one is cut down
inline constexpr std::size_t kHookBatchBytes = 1 * kMiB;         // hook calls that wait are sent in bodies of this size
inline constexpr std::size_t kMaxHookBatch = 500;                // and this many of them, one commit
inline constexpr std::size_t kHookSpoolBytes = 64 * kMiB;        // hook calls that wait on disk for a server
inline constexpr std::chrono::milliseconds kHookTimeout{10'000};  // one delivery, in the background
inline constexpr std::size_t kMaxLostSessions = 100;            // sessions named when calls did not fit into the spool
inline constexpr std::int64_t kSessionIdleSeconds = 12 * 3600;  // a session that says nothing for this long has ended
inline constexpr int kMaxSessionTasks = 1'000;  // tasks of one agent session, which is resumed again and again
inline constexpr std::size_t kMaxSettingsBytes = 4 * kMiB;      // an agent's settings file that hooks are added to
inline constexpr std::size_t kMaxSidechains = 10'000;           // files of sub-agents beside one transcript
inline constexpr std::size_t kTopTasks = 2'000;                 // rows that `top` keeps
inline constexpr std::size_t kTopLogLines = 1'000;              // newest events of the log it shows
inline constexpr std::chrono::milliseconds kTopRefresh{1'000};  // elapsed times move on

// --- runner: the agent's processes ---
inline constexpr std::chrono::milliseconds kInterruptWait{10'000};  // after the agent's own interrupt, before SIGINT
inline constexpr std::chrono::milliseconds kSigintWait{5'000};      // after SIGINT, before SIGTERM
inline constexpr std::chrono::milliseconds kSigtermWait{5'000};     // after SIGTERM, before SIGKILL
inline constexpr std::chrono::milliseconds kSigkillWait{5'000};     // then what is still there is reported as left over
inline constexpr std::chrono::milliseconds kAgentDrain{2'000};      // an agent is gone but others hold its output open
inline constexpr std::chrono::milliseconds kReapPause{5};           // between two looks at processes that were killed
inline constexpr int kFreezePasses = 64;                   // looks for new processes before the frozen ones are killed
inline constexpr int kAgentPipeBytes = 1024 * 1024;        // output an agent can write while its listener is busy
inline constexpr std::size_t kAgentReadBytes = 64 * kKiB;  // one read of it
inline constexpr int kAgentReadsPerTurn = 8;               // then the other stream and the warden get their turn
inline constexpr std::size_t kMaxStdinBytes = 16 * kMiB;   // waiting for an agent that does not read
inline constexpr std::size_t kMaxWardenMessageBytes = 32 * kMiB;  // above what the kernel takes as arguments
inline constexpr std::size_t kMaxCommandLineBytes = 1 * kKiB;     // of an ended process in a report
inline constexpr std::size_t kMaxEndedProcesses = 10'000;         // in one report; more are only counted

// --- runner: the outbox ---
inline constexpr std::chrono::milliseconds kOutboxLinger{2};  // the first event of a batch waits for company
inline constexpr std::size_t kOutboxQueueBytes = 16 * kMiB;   // events waiting for the disk; more are lost and counted
inline constexpr std::size_t kOutboxDeltas = 256;             // live text waiting for the server; the oldest goes first
inline constexpr std::size_t kOutboxDeltaBytes = 512 * kKiB;  // and its bytes
inline constexpr std::chrono::milliseconds kDeltaTimeout{2'000};  // live text that takes longer is not worth sending
inline constexpr std::size_t kSpoolBytes = 1024 * kMiB;        // undelivered events on disk; more are lost and counted
inline constexpr std::size_t kSpoolTrimBytes = 64 * kMiB;      // delivered events kept, should the server ask for them
inline constexpr std::chrono::milliseconds kSpoolSync{1'000};  // undelivered events reach the disk itself within this

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kStallSilence{300'000};  // a working agent this quiet is reported, not ended
inline constexpr std::chrono::milliseconds kAgentEndWait{60'000};   // told that nothing more comes, then the ladder
inline constexpr std::chrono::milliseconds kBackgroundWait{600'000};  // for work an idle agent left running beside it
inline constexpr std::chrono::milliseconds kUnreadWait{10'000};   // an idle agent that has not taken up a message by
                                                                  // then never says that it does
inline constexpr std::chrono::milliseconds kRunTick{1'000};       // the longest a run goes without a look at the time
inline constexpr std::chrono::milliseconds kRunDrain{20'000};     // after the end; then the rest stays in the spool
inline constexpr std::chrono::milliseconds kPendingDrain{5'000};  // for one spool that somebody left behind
inline constexpr std::size_t kMaxEndedInStatus = 200;             // ended processes named in an event; more are counted
inline constexpr std::size_t kMaxResultCommits = 100;             // named in a result; more are counted
inline constexpr std::size_t kMaxResultFiles = 500;               // the same for changed files
inline constexpr std::size_t kMaxProgramOutputBytes = 4 * kMiB;   // of git and the like; more is cut
inline constexpr std::chrono::milliseconds kGitTimeout{600'000};  // a clone over a slow line

// --- runner: around the agent ---
inline constexpr std::chrono::milliseconds kProgramStopWait{500};  // for a git that is stopped to tidy up; then SIGKILL
inline constexpr std::chrono::milliseconds kVersionTimeout{5'000};  // a program that does not say its version by then
inline constexpr std::size_t kMaxVersionBytes = 128;                // kept of what it says
inline constexpr std::size_t kMaxRulesBytes = 64 * kKiB;     // one argument has them, and the kernel takes 128 KiB
inline constexpr std::size_t kDeltaTailBytes = 64;           // of live text wait for what follows; fewer tell no secret
inline constexpr std::size_t kMaxHeldDeltaBytes = 8 * kKiB;  // in one secret: the largest keys have 6; escaped, it is
                                                             // still below kMaxDeltaBytes

// --- runner: many tasks ---
inline constexpr std::int64_t kRunners = 2;        // of `serve`, unless it says
inline constexpr std::int64_t kMaxRunners = 256;   // in one process: five threads each
inline constexpr std::int64_t kClaimSeconds = 20;  // one question for work waits this long; below kClientTimeout
inline constexpr int kLeaseRenewals = 3;           // tries within one lease
inline constexpr std::chrono::milliseconds kClaimPause{1'000};  // after a question that failed
inline constexpr std::chrono::milliseconds kHostLook{500};      // how soon a run sees that its host is gone
inline constexpr std::chrono::milliseconds kHostWait{20'000};   // for another process that is just starting to host
inline constexpr std::size_t kMaxTaskFileBytes = 4 * kMiB;
inline constexpr std::size_t kMaxFileTasks = 1'000;          // tasks in one file
inline constexpr std::chrono::milliseconds kBoardTick{250};  // how often the live lines are drawn again

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kChunkJoinWait{1'000};  // chunks of text this close together are one event
inline constexpr std::size_t kChunkJoinBytes = 8 * kKiB;           // and at most this much of them
inline constexpr std::size_t kChunkJoinMessages = 256;  // and this many: each leaves its record in the detail
inline constexpr std::size_t kSequenceNotes = 20;    // an agent that cannot count is told about so often, then counted
inline constexpr std::size_t kRecentMessages = 256;  // whose repetition is recognised
inline constexpr std::chrono::milliseconds kAgentConnectWait{5'000};  // for an agent that is just starting
inline constexpr std::chrono::milliseconds kAgentConnectLook{100};    // how soon a stop is seen while connecting
// Servers take pings more often than every 5 minutes for an attack and end the connection.
inline constexpr std::chrono::milliseconds kAgentKeepalive{310'000};
inline constexpr std::chrono::milliseconds kAgentKeepaliveTimeout{20'000};  // for the answer to one
inline constexpr std::size_t kMaxCredentialBytes = 1 * kMiB;                // a token or certificate file of an agent
inline constexpr std::size_t kMaxAgentMetadata = 32;                        // entries sent with a call
inline constexpr std::size_t kMaxConfiguredAgents = 60;  // below kMaxClaimAgents: runners claim built-in ones as well

}  // namespace shepherd
