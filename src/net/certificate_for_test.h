// A self-signed certificate in its own files, created for a test.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "net/server.h"

namespace shepherd::net {

class CertificateForTest {
 public:
  explicit CertificateForTest(const std::string& host) {
    std::string pattern = (std::filesystem::temp_directory_path() / "shepherd-certificate-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    files_ = {directory_ + "/certificate.pem", directory_ + "/key.pem"};
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + host).c_str());
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate, key, EVP_sha256());
    if (FILE* file = std::fopen(files_.certificate.c_str(), "w")) {
      PEM_write_X509(file, certificate);
      std::fclose(file);
    }
    if (FILE* file = std::fopen(files_.key.c_str(), "w")) {
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
      std::fclose(file);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  ~CertificateForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  CertificateForTest(const CertificateForTest&) = delete;
  CertificateForTest& operator=(const CertificateForTest&) = delete;

  const TlsFiles& files() const { return files_; }

 private:
  std::string directory_;
  TlsFiles files_;
};

}  // namespace shepherd::net
