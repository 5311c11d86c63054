#include "api/login_page.h"

#include <string_view>
#include <utility>

#include "api/page_files.h"

namespace shepherd {
namespace {

std::string_view words_about(LoginTrouble trouble) {
  switch (trouble) {
    case LoginTrouble::none:
      return "";
    case LoginTrouble::bad_link:
      return "<p role=\"alert\">This login link does not work: it was used already, is too old, or is not complete. "
             "If this browser is signed in, <a href=\"/\">go on to the page</a>.</p>";
    case LoginTrouble::bad_token:
      return "<p role=\"alert\">This is not a token of this server, or it has expired or was revoked.</p>";
    case LoginTrouble::producer:
      return "<p role=\"alert\">This is a producer's token: a program posts events with it. To look at the page you "
             "need one of scope viewer, operator or admin.</p>";
  }
  return "";
}

}  // namespace

void send_login_page(Call call, LoginTrouble trouble) {
  std::string body =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Shepherd: sign in</title>";
  for (const PageFile& file : page_files()) {
    if (!file.name.ends_with(".css")) continue;
    body.append("<link rel=\"stylesheet\" href=\"/assets/").append(file.name).append("\">");
  }
  body += "</head><body><main class=\"login\"><h1>Shepherd</h1>";
  body += words_about(trouble);
  body +=
      "<p>Make a login link on the machine that runs Shepherd and open it in this browser:</p>"
      "<pre>shepherd token login-link</pre>"
      "<form method=\"post\" action=\"/login\"><p><label>Or paste a token: "
      "<input name=\"token\" type=\"password\" autocomplete=\"current-password\" required autofocus></label> "
      "<button type=\"submit\">Sign in</button></p></form>"
      "<p class=\"quiet\"><code>shepherd serve</code> prints a login link when it starts, "
      "too.</p></main></body></html>";
  net::Response response;
  response.status = trouble == LoginTrouble::none ? 200 : 401;
  response.content_type = "text/html; charset=utf-8";
  response.body = std::move(body);
  response.headers.emplace_back("Cache-Control", "no-store");
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="shepherd")");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  // Not "no-referrer" as elsewhere, because the form would then not send its origin.
  response.headers.emplace_back("Referrer-Policy", "same-origin");
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
                                "form-action 'self'; frame-ancestors 'none'");
  call.send_as_is(std::move(response));
}

}  // namespace shepherd
