// Creates a certificate for the server under test: self-signed, P-256, for 127.0.0.1, valid for a day.
// Threads: any.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace shepherd::bench {

struct CertificateFiles {
  std::filesystem::path certificate, key;
};

// Writes cert.pem and key.pem into the directory. internal/no_certificate.
Result<CertificateFiles> make_certificate(const std::filesystem::path& directory);

}  // namespace shepherd::bench
