#include "driver/grpc/connect_advice.h"

namespace shepherd {

ConnectAdvice connect_advice(std::string_view why, bool tls, bool certificate) {
  auto says = [why](std::string_view words) { return why.find(words) != std::string_view::npos; };
  if (says("certificate verify failed")) {
    return {"its certificate is not signed by an authority we trust: give that one (--ca-file, or tls.ca of the agent)",
            true};
  }
  if (says("not in peer certificate")) {
    return {"its certificate has another name: give that one (--server-name, or tls.server_name of the agent)", true};
  }
  if (says("wrong version number")) {
    return {"it does not speak TLS: leave out --tls and --ca-file, or tls of the agent", true};
  }
  // Not final: what stands before an agent that is just starting closes connections, too.
  if (!says("Socket closed") && !says("Connection reset")) return {};
  if (!tls) return {"it closed the connection at once: does it want TLS (--tls or --ca-file, or tls of the agent)?"};
  if (!certificate) {
    return {
        "it closed the connection in the TLS handshake, as one does that wants a client certificate, and we gave "
        "none: give one (--cert-file and --key-file, or tls.cert and tls.key of the agent)"};
  }
  return {
      "it closed the connection in the TLS handshake, as one does that does not accept our client certificate: is "
      "it signed by an authority that the agent trusts (--cert-file, or tls.cert of the agent)?"};
}

}  // namespace shepherd
