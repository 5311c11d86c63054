// A GitHub App: a JWT signed with the app's key finds the repository's installation, which issues an access token for
// this one repository, valid for an hour.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "base/base64.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "json/read.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "net/client.h"
#include "outbound/limits.h"
#include "outbound/repo_token.h"

namespace shepherd {
namespace {

constexpr std::int64_t kClockSkewSeconds = 60;    // GitHub refuses a JWT from the future
constexpr std::int64_t kJwtLifeSeconds = 9 * 60;  // GitHub refuses a JWT valid for more than ten minutes

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* pointer) const { Free(pointer); }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using SignContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;

Key read_key(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string pem((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::unique_ptr<BIO, Freed<BIO, BIO_free_all>> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(bio == nullptr ? nullptr : PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

// Returns an empty text if the key cannot sign.
std::string rs256(EVP_PKEY* key, std::string_view text) {
  SignContext context(EVP_MD_CTX_new());
  std::size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) {
    return {};
  }
  std::string signature(size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(context.get(), out, &size, bytes, text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

// "owner/name" of https://github.com/owner/name.git or git@github.com:owner/name; empty for other forms.
std::string repository_of(std::string_view url) {
  if (url.ends_with('/')) url.remove_suffix(1);
  if (url.ends_with(".git")) url.remove_suffix(4);
  std::size_t name = url.find_last_of('/');
  if (name == std::string_view::npos || name == 0) return {};
  std::size_t owner = url.find_last_of("/:", name - 1);
  if (owner == std::string_view::npos) return {};
  std::string path(url.substr(owner + 1));
  for (char c : path) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                 c == '.' || c == '/';
    if (!plain) return {};
  }
  return path;
}

class GithubAppProvider final : public RepoTokenProvider {
 public:
  GithubAppProvider(const RepoTokenConfig& config, const Clock& clock)
      : app_id_(config.github_app_id),
        key_file_(config.github_app_key_file),
        api_url_(config.github_api_url),
        clock_(clock) {}

  Result<RepoToken> token(const TaskInfo& task) override {
    std::string repository = repository_of(task.repo_url);
    if (repository.empty()) return fail(token_provider_failed("the task's repo.url names no GitHub repository"));
    auto jwt = make_jwt();
    if (!jwt) return fail(jwt.error());
    auto url = net::parse_url(api_url_);
    if (!url) return fail(token_provider_failed("runners.github_app.api_url is no URL"));
    net::ClientBounds bounds;
    bounds.max_response_bytes = kMiB;
    net::HttpClient client(*url, {}, std::move(bounds));
    ActiveCall active(*this, client);
    std::string base = url->target == "/" ? "" : url->target;

    auto installation = ask(client, *jwt, "GET", base + "/repos/" + repository + "/installation", "", 200);
    if (!installation) return fail(installation.error());
    JsonParser parser(installation->size());
    auto root = parser.parse(*installation);
    std::uint64_t id = 0;
    if (!root || (*root)["id"].get(id) != simdjson::SUCCESS) {
      return fail(token_provider_failed("GitHub's answer has no installation id"));
    }
    std::string body = R"({"repositories":[)";
    append_json_string(body, repository.substr(repository.find('/') + 1));
    body += "]}";
    auto made =
        ask(client, *jwt, "POST", base + "/app/installations/" + std::to_string(id) + "/access_tokens", body, 201);
    if (!made) return fail(made.error());
    return parse_repo_token(*made);
  }

  void cancel() override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    cancelled_ = true;
    for (net::HttpClient* client : active_) client->cancel();
  }

 private:
  // Lets cancel() find the client while it is in use.
  class ActiveCall {
   public:
    ActiveCall(GithubAppProvider& provider, net::HttpClient& client) : provider_(provider), client_(client) {
      MutexLock lock(provider_.mutex_);
      provider_.active_.insert(&client_);
      if (provider_.cancelled_) client_.cancel();
    }
    ~ActiveCall() {
      MutexLock lock(provider_.mutex_);
      provider_.active_.erase(&client_);
    }
    ActiveCall(const ActiveCall&) = delete;
    ActiveCall& operator=(const ActiveCall&) = delete;

   private:
    GithubAppProvider& provider_;
    net::HttpClient& client_;
  };

  Result<std::string> make_jwt() const {
    Key key = read_key(key_file_);
    if (key == nullptr) return fail(token_provider_failed("runners.github_app.key_file is no readable private key"));
    std::int64_t now = clock_.wall_ms() / 1'000;
    std::string claims = object_text([&](JsonObject& object) {
      object.number("iat", now - kClockSkewSeconds);
      object.number("exp", now + kJwtLifeSeconds);
      object.text("iss", app_id_);
    });
    std::string text = encode_base64url(R"({"alg":"RS256","typ":"JWT"})") + "." + encode_base64url(claims);
    std::string signature = rs256(key.get(), text);
    if (signature.empty()) return fail(token_provider_failed("the GitHub App's key cannot sign"));
    return text + "." + encode_base64url(signature);
  }

  static Result<std::string> ask(net::HttpClient& client, const std::string& jwt, std::string_view method,
                                 const std::string& target, const std::string& body, int expected) {
    net::HeaderList headers{{"Authorization", "Bearer " + jwt},
                            {"Accept", "application/vnd.github+json"},
                            {"X-GitHub-Api-Version", "2022-11-28"},
                            {"User-Agent", "shepherd"}};
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    auto response = client.request(method, target, headers, body, kCallbackTimeout);
    if (!response) return fail(token_provider_failed(response.error().message));
    if (response->status != expected) {
      return fail(token_provider_failed("GitHub answered " + std::to_string(response->status) + " to " +
                                        std::string(method) + " " + target));
    }
    return std::move(response->body);
  }

  std::string app_id_, key_file_, api_url_;
  const Clock& clock_;
  Mutex mutex_;
  std::set<net::HttpClient*> active_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<RepoTokenProvider> make_github_app_provider(const RepoTokenConfig& config, const Clock& clock) {
  return std::make_unique<GithubAppProvider>(config, clock);
}

}  // namespace shepherd
