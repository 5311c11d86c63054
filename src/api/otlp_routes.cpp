// Telemetry: what agents export over OTLP/HTTP joins the task of its session, or opens one. All of a request is one
// transaction, so a repeated request finds all or nothing of itself.
#include <memory>
#include <utility>
#include <vector>

#include "api/handlers.h"
#include "api/header_text.h"
#include "api/otlp_problem.h"
#include "api/telemetry_intake.h"
#include "base/clock.h"
#include "driver/registry/exported_sessions.h"
#include "otlp/answer.h"
#include "otlp/decode.h"

namespace shepherd {
namespace {

struct OtlpPost {
  std::vector<TelemetryIntake> sessions;
  OtlpPartial partial;
};

Result<OtlpPost> read_post(const net::Request& request, OtlpSignal signal, const ApiParts& parts) {
  std::string inflated;
  std::string_view body = request.body;
  if (is_media_type(request.header("content-encoding"), "gzip")) {
    auto whole = inflate_gzip(body);
    if (!whole) return fail(whole.error());
    inflated = *std::move(whole);
    body = inflated;
  }
  auto decoded = decode_otlp(signal, otlp_encoding(request), body);
  if (!decoded) return fail(decoded.error());
  std::int64_t now_ms = parts.clock.wall_ms();
  ExportedSessions exported = sessions_of(*decoded, now_ms);
  OtlpPost post;
  post.partial = std::move(exported.partial);
  for (SessionTelemetry& session : exported.sessions) {
    auto prepared = TelemetryIntake::prepare(std::move(session), parts, now_ms);
    if (!prepared) return fail(prepared.error());
    post.sessions.push_back(*std::move(prepared));
  }
  return post;
}

void post_telemetry(Call call, OtlpSignal signal) {
  Call::on_lane(&Lanes::intake, std::move(call), [signal](Call on_lane) {
    ApiParts& parts = on_lane.parts();
    auto read = read_post(on_lane.request(), signal, parts);
    if (!read) return on_lane.fail(read.error());
    auto post = std::make_shared<OtlpPost>(*std::move(read));
    OtlpEncoding encoding = otlp_encoding(on_lane.request());
    parts.journal.write(
        [post](WriteTxn& txn) -> Result<void> {
          for (const TelemetryIntake& session : post->sessions) {
            if (auto taken = session.take(txn); !taken) return taken;
          }
          return {};
        },
        [call = std::move(on_lane), post, signal, encoding](Result<void> written) mutable {
          if (!written) return call.fail(written.error());
          net::Response response;
          response.status = 200;
          response.content_type = otlp_media_type(encoding);
          response.body = encode_otlp_answer(signal, encoding, post->partial);
          call.send(std::move(response));
        });
  });
}

}  // namespace

void post_otlp_logs(Call call) {
  post_telemetry(std::move(call), OtlpSignal::logs);
}
void post_otlp_metrics(Call call) {
  post_telemetry(std::move(call), OtlpSignal::metrics);
}
void post_otlp_traces(Call call) {
  post_telemetry(std::move(call), OtlpSignal::traces);
}

}  // namespace shepherd
