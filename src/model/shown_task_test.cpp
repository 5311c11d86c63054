#include "model/shown_task.h"

#include <gtest/gtest.h>

#include "model/wire_json.h"

namespace shepherd {
namespace {

Redactor standard() {
  return Redactor::create({}).value();
}

TEST(ShownUrl, HidesWhatOpensDoors) {
  Redactor redactor = standard();
  auto shown = [&](std::string_view url) { return shown_url(redactor, url); };
  EXPECT_EQ(shown("https://joe:pw@git.example.org/a.git"), "https://joe:[redacted:password:2]@git.example.org/a.git");
  EXPECT_EQ(shown("https://q9vX2mLr7TzKpW4n@git.example.org/a"), "https://[redacted]@git.example.org/a");
  EXPECT_EQ(shown("https://example.org/hook?token=short&x=1#top"),
            "https://example.org/hook?token=[redacted:secret:5]&x=1#top");
  EXPECT_EQ(shown("https://example.org/hook?a=1;API_Key=short"),
            "https://example.org/hook?a=1;API_Key=[redacted:secret:5]");
  for (const char* plain : {"https://git@example.org/a.git", "git@github.com:acme/auth.git", "/srv/git/a.git",
                            "https://example.org/hook?task=7&token=", "https://example.org/@team/project?page=2", ""}) {
    EXPECT_EQ(shown(plain), plain);
    EXPECT_EQ(shown(shown(plain)), plain);
  }
}

TEST(ShownUrl, MembersWhoseNamesTell) {
  Redactor redactor = standard();
  for (const char* word : {"token", "key", "secret", "sig", "pass", "pwd", "auth", "credential", "code", "jwt"}) {
    std::string url = "https://example.org/?my-" + std::string(word) + "s=";
    EXPECT_EQ(shown_url(redactor, url + "abc&x=1"), url + "[redacted:secret:3]&x=1");
    EXPECT_EQ(shown_url(redactor, url), url) << "no value";
  }
  EXPECT_EQ(shown_url(redactor, "https://example.org/?token"), "https://example.org/?token");
  EXPECT_EQ(shown_url(redactor, "https://example.org/?token=[redacted:token:9]"),
            "https://example.org/?token=[redacted:token:9]");
  EXPECT_EQ(shown_url(redactor, "https://example.org/?a=b=c&key=d=e"),
            "https://example.org/?a=b=c&key=[redacted:secret:3]");
}

TEST(ShownUrl, LongUserNamesAreNone) {
  Redactor redactor = standard();
  auto shown = [&](std::string_view url) { return shown_url(redactor, url); };
  EXPECT_EQ(shown("https://" + std::string(16, 'q') + "@h/a"), "https://[redacted]@h/a");
  EXPECT_EQ(shown("https://q9vX2m-r7T_K~W4n.Z@h/a"), "https://[redacted]@h/a");
  EXPECT_EQ(shown("https://" + std::string(15, 'q') + "@h/a"), "https://" + std::string(15, 'q') + "@h/a");
  EXPECT_EQ(shown("https://h/" + std::string(20, 'q') + "@x/a"), "https://h/" + std::string(20, 'q') + "@x/a");
  EXPECT_EQ(shown(std::string(20, 'q') + "@h/a"), std::string(20, 'q') + "@h/a") << "no scheme";
}

TEST(ShownTask, KeepsTheRestAsItWas) {
  Task task;
  task.spec.id = "t1";
  task.spec.description = "log in with password=Xk29vbQ1";
  task.spec.context = "no secret here";
  task.spec.repo_url = "https://u:pw@example.org/a";
  task.spec.callback_url = "https://example.org/?token=abc";
  task.spec.command = {"curl", "curl -u joe:plugh3 example.org"};
  task.spec.labels = {{"team", "core"}};
  Task shown = shown_task(standard(), task);
  EXPECT_EQ(shown.spec.description, "log in with password=[redacted:password:8]");
  EXPECT_EQ(shown.spec.context, "") << "it is for runners alone";
  EXPECT_EQ(shown.spec.repo_url, "https://u:[redacted:password:2]@example.org/a");
  EXPECT_EQ(shown.spec.callback_url, "https://example.org/?token=[redacted:secret:3]");
  EXPECT_EQ(shown.spec.command.back(), "curl -u joe:[redacted:password:6] example.org");
  EXPECT_EQ(shown.spec.labels, task.spec.labels);
  EXPECT_EQ(shown.spec.id, "t1");
}

TEST(ShownTask, NamesAndLabelsMayHoldSecretsToo) {
  const std::string secret = "ghp_7" + std::string(35, 'a');
  Task task;
  task.spec.labels = {{secret, "x"}, {"y", "is " + secret}, {"team", "core"}};
  task.spec.allowed_tools = {"Read", secret};
  for (std::string* text :
       {&task.spec.workflow_id, &task.spec.model, &task.spec.agent, &task.spec.runner, &task.spec.repo_ref,
        &task.spec.source_id, &task.spec.source_type, &task.state.runner, &task.state.model}) {
    *text = secret;
  }
  std::string out;
  append_task(out, shown_task(standard(), task));
  EXPECT_EQ(out.find("ghp_"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("team":"core")"), std::string::npos);
  EXPECT_NE(out.find(R"("allowedTools":["Read",)"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
