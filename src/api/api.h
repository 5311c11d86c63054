// The HTTP API: the public listener for people, dashboards and command lines, and the internal one for runners and
// agents. It is a client of the journal like any other: it appends, opens feeds and reads pages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "access/access.h"
#include "access/audit.h"
#include "base/clock.h"
#include "base/lane_set.h"
#include "base/metrics.h"
#include "base/random.h"
#include "chat/chats.h"
#include "chat/completions.h"
#include "follow/inbox.h"
#include "follow/indexer.h"
#include "follow/ledger_keeper.h"
#include "journal/journal.h"
#include "model/condense.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "redact/redact.h"
#include "steering/steering.h"
#include "store/search_index.h"

namespace shepherd {

struct ListenerConfig {
  bool auth = true;       // false lets every client in; the configuration has checked that the network allows it
  bool any_host = false;  // on a trusted network the Host header is not checked, because service names are unknown here
  std::vector<std::string> hosts;    // names in the Host header besides loopback names and bare addresses
  std::vector<std::string> origins;  // "https://tower.example.com": other origins whose pages may call
  // The same for the paths of chats alone, without the session cookie: pages that browsers must be told about (CORS).
  std::vector<std::string> chat_origins = {};
};

struct ApiConfig {
  ListenerConfig public_listener;
  ListenerConfig internal_listener;
  bool allow_token_parameter = false;  // ?token= of older clients; it ends up in the logs of proxies
  bool metrics_open = false;           // /metrics without credentials
  bool keep_detail = true;             // keep full content and raw records besides events
  bool redact = true;                  // redact incoming text
  std::string version;
};

// The parts of the API. All of them must outlive the Api. `random` is used from any thread.
struct ApiParts {
  Journal& journal;
  Steering& steering;
  SearchIndex* search = nullptr;   // nullptr for no search
  Indexer* indexer = nullptr;      // nullptr if there is no index to purge when a task is deleted
  Inbox* inbox = nullptr;          // nullptr for no inbox; stop it before the Api is destroyed
  LedgerKeeper* ledger = nullptr;  // nullptr for neither stats nor findings
  Access& access;
  Audit& audit;
  MetricRegistry& metrics;
  const Clock& clock;
  Random& random;
  const Redactor& redactor;
  const CondenseRules& condense;
  Lanes& lanes;  // for blocking work
  ApiConfig config;
  Chats* chats = nullptr;               // nullptr: no model is configured
  net::EventLoop* chat_loop = nullptr;  // where the chats live
  Completions* completions = nullptr;   // there if `chats` is, on the same loop

  // A path for the audit. The caller chose parts of it, which may contain a secret.
  std::string audited(std::string_view path) const { return config.redact ? redactor.redact(path) : std::string(path); }
  const Redactor* redaction() const { return config.redact ? &redactor : nullptr; }  // nullptr if switched off
};

// Owns both handlers and the registry of live streams. Shut the servers down first. The destructor then waits until
// every call on a lane or in the writer's queue has been answered, so lanes and journal must still run.
// Threads: any.
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
