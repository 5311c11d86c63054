// The HTTP API: what people, dashboards and command lines call on the public listener, and runners and agents on the
// internal one. A client of the journal like any other: it appends, it opens feeds, it reads pages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "access/access.h"
#include "access/audit.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/random.h"
#include "follow/inbox.h"
#include "follow/indexer.h"
#include "follow/ledger_keeper.h"
#include "journal/journal.h"
#include "model/condense.h"
#include "net/http.h"
#include "redact/redact.h"
#include "steering/steering.h"
#include "store/search_index.h"

namespace shepherd {

struct ListenerConfig {
  bool auth = true;       // false: every caller is let in; the operator has to protect the network
  bool any_host = false;  // a trusted network: the Host header is not checked (service names are not known here)
  std::vector<std::string> hosts;    // names in the Host header beside loopback names and bare addresses
  std::vector<std::string> origins;  // "https://tower.example.com": pages of other origins that may call
};

struct ApiConfig {
  ListenerConfig public_listener;
  ListenerConfig internal_listener;
  bool allow_token_parameter = false;  // ?token= of older clients; it ends up in proxies' logs
  bool metrics_open = false;           // /metrics without credentials
  bool keep_detail = true;             // keep full content and raw records beside events
  bool redact = true;                  // redact what enters
  std::string version;
};

// Everything the API is made of. All of it must outlive the Api. `random` is used from any thread.
struct ApiParts {
  Journal& journal;
  Steering& steering;
  SearchIndex* search = nullptr;   // nullptr: no search
  Indexer* indexer = nullptr;      // nullptr: nothing to forget when a task is deleted
  Inbox* inbox = nullptr;          // nullptr: no inbox; stop it before the Api goes
  LedgerKeeper* ledger = nullptr;  // nullptr: neither stats nor findings
  Access& access;
  Audit& audit;
  MetricRegistry& metrics;
  const Clock& clock;
  Random& random;
  const Redactor& redactor;
  const CondenseRules& condense;
  Executor& workers;  // blocking store reads
  ApiConfig config;

  // A path for the audit: the part that is the caller's own words may hold a secret.
  std::string audited(std::string_view path) const { return config.redact ? redactor.redact(path) : std::string(path); }
  const Redactor* redaction() const { return config.redact ? &redactor : nullptr; }  // null: switched off
};

// Owns both handlers and the registry of live streams. Shut the servers down first; the destructor then waits until
// every call that is still on a worker thread or in the writer's queue has been answered, so workers and journal must
// still run. Threads: any.
class Api {
 public:
  explicit Api(ApiParts parts);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  net::HttpHandler& public_handler();
  net::HttpHandler& internal_handler();
  std::size_t live_streams() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
