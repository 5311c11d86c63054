#include "bench/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

namespace shepherd::bench {
namespace {

constexpr long kLifeSeconds = 24 * 60 * 60;

struct FreeOpenSsl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeOpenSsl>;

bool add_address(X509* certificate) {
  Owned<X509_EXTENSION> names(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  return names != nullptr && X509_add_ext(certificate, names.get(), -1) == 1;
}

bool sign(X509* certificate, EVP_PKEY* key) {
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), kLifeSeconds);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_set_pubkey(certificate, key);
  return add_address(certificate) && X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

Result<CertificateFiles> make_certificate(const std::filesystem::path& directory) {
  CertificateFiles files{directory / "cert.pem", directory / "key.pem"};
  Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  Owned<X509> certificate(X509_new());
  Owned<std::FILE> certificate_file(std::fopen(files.certificate.c_str(), "wx"));
  Owned<std::FILE> key_file(std::fopen(files.key.c_str(), "wx"));
  bool made = key != nullptr && certificate != nullptr && certificate_file != nullptr && key_file != nullptr &&
              sign(certificate.get(), key.get()) && PEM_write_X509(certificate_file.get(), certificate.get()) == 1 &&
              PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (!made) return fail(ErrorCode::internal, "no_certificate", "cannot make a certificate in " + directory.string());
  return files;
}

}  // namespace shepherd::bench
