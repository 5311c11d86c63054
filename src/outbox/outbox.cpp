#include "outbox/outbox.h"

#include <utility>

#include "base/ids.h"
#include "outbox/outbox_delivery.h"

namespace shepherd {

Result<std::unique_ptr<Outbox>> Outbox::create(const OutboxOptions& options, EventSink& sink, const Clock& clock,
                                               Random& random) {
  SpoolIdentity identity{options.task, "runner-" + make_sortable_id(clock.wall_ms(), random), options.destination,
                         options.lease};
  auto spool = Spool::create(options.spool_directory, std::move(identity), options.spool_bytes);
  if (!spool) return fail(std::move(spool.error()));
  return std::unique_ptr<Outbox>(new Outbox(std::make_unique<Delivery>(std::move(*spool), sink, clock, random)));
}

Result<std::unique_ptr<Outbox>> Outbox::resume(const std::string& spool_path, EventSink& sink, const Clock& clock,
                                               Random& random) {
  auto spool = Spool::open(spool_path);
  if (!spool) return fail(std::move(spool.error()));
  return std::unique_ptr<Outbox>(new Outbox(std::make_unique<Delivery>(std::move(*spool), sink, clock, random)));
}

Outbox::Outbox(std::unique_ptr<Delivery> delivery) : delivery_(std::move(delivery)) {}
Outbox::~Outbox() = default;

void Outbox::add(std::string event_json) {
  delivery_->add(std::move(event_json));
}
void Outbox::add_end(std::string event_json) {
  delivery_->add_end(std::move(event_json));
}
void Outbox::add_delta(std::string delta_json) {
  delivery_->add_delta(std::move(delta_json));
}
OutboxStatus Outbox::status() const {
  return delivery_->status();
}
std::string Outbox::spool_path() const {
  return delivery_->spool_path();
}
Drained Outbox::drain(std::chrono::milliseconds deadline) {
  return delivery_->drain(deadline);
}

}  // namespace shepherd
