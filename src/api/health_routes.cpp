// Probes and metrics.
#include <utility>

#include "api/handlers.h"
#include "follow/inbox_metrics.h"
#include "json/write.h"
#include "views/prometheus.h"

namespace shepherd {

void healthz(Call call) {
  std::string body = R"({"status":"ok","version":)";
  append_json_string(body, call.parts().config.version);
  body += '}';
  call.send_json(200, std::move(body));
}

void readyz(Call call) {
  Readiness& readiness = call.core().readiness;
  readiness.check([call = std::move(call)](Result<void> ready) mutable {
    if (ready) return call.send_json(200, R"({"status":"ready"})");
    Error error = ready.error();
    error.message = "The store does not take writes now: " + error.message;
    call.fail(error, 503);
  });
}

void metrics(Call call) {
  // Reading computed gauges may access the disk.
  Call::on_worker(std::move(call), [](Call on_worker) {
    net::Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    ApiParts& parts = on_worker.parts();
    response.body = prometheus_text(parts.metrics);
    if (parts.ledger != nullptr) parts.ledger->figures().append_prometheus(response.body);
    if (parts.inbox != nullptr) append_inbox_metrics(response.body, *parts.inbox, parts.clock.wall_ms());
    on_worker.send(std::move(response));
  });
}

}  // namespace shepherd
