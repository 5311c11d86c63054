#include "api/router.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <set>
#include <string>

#include "api/assets.h"

namespace shepherd {
namespace {

std::string_view part(std::string_view path, PathPart at) {
  return path.substr(at.offset, at.size);
}

TEST(Router, FindsRoutesAndTheirParameters) {
  Router router(kOnPublic);
  std::string_view path = "/api/v1/tasks/task-1/events/17";
  Found found = router.find("GET", path);
  ASSERT_NE(found.route, nullptr);
  EXPECT_EQ(found.route->pattern, "/api/v1/tasks/{id}/events/{sequence}");
  EXPECT_EQ(part(path, found.parts[0]), "task-1");
  EXPECT_EQ(part(path, found.parts[1]), "17");
  ASSERT_NE(router.find("GET", "/").route, nullptr);
}

TEST(Router, UnknownPathsAreNotFound) {
  Router router(kOnPublic);
  for (const char* path : {"", "x", "//", "/api/v1/tasks/", "/api/v1/tasks//events",
                           "/api/v1/tasks/a/events/1/detail/x", "/a/b/c/d/e/f/g/h/i/j/k", "/API/v1/tasks"}) {
    Found found = router.find("GET", path);
    EXPECT_EQ(found.route, nullptr) << path;
    EXPECT_EQ(found.allow, "") << path;
  }
}

TEST(Router, AWrongMethodNamesTheRightOnes) {
  Router router(kOnPublic);
  Found found = router.find("PUT", "/api/v1/tasks/a");
  EXPECT_EQ(found.route, nullptr);
  EXPECT_EQ(found.allow, "GET, HEAD, PATCH, DELETE");
  EXPECT_FALSE(found.elsewhere);
}

TEST(Router, EventsEnterOnTheInternalListenerOnly) {
  Found found = Router(kOnPublic).find("POST", "/api/v1/tasks/a/events");
  EXPECT_EQ(found.route, nullptr);
  EXPECT_EQ(found.allow, "GET, HEAD");
  EXPECT_TRUE(found.elsewhere);
  EXPECT_NE(Router(kOnInternal).find("POST", "/api/v1/tasks/a/events").route, nullptr);
  EXPECT_EQ(Router(kOnInternal).find("POST", "/api/v1/tasks").route, nullptr);
}

TEST(OpenApi, DescribesEveryRouteAndNothingElse) {
  auto document = boost::json::parse(assets::openapi()).as_object();
  EXPECT_EQ(document.at("openapi").as_string(), "3.1.0");
  std::set<std::string> described, served;
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [method, operation] : item.as_object()) {
      if (method == "parameters") continue;
      std::string upper;
      for (char c : method) upper += static_cast<char>(c - 'a' + 'A');
      described.insert(upper + " " + std::string(path));
    }
  }
  for (const Route& route : routes()) served.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(described, served);
  EXPECT_EQ(served.size(), routes().size()) << "a route is in the table twice";
}

TEST(OpenApi, SaysWhichRoutesAreOpenAndWhichTakeABody) {
  auto document = boost::json::parse(assets::openapi()).as_object();
  const auto& paths = document.at("paths").as_object();
  for (const Route& route : routes()) {
    std::string method;
    for (char c : route.method) method += static_cast<char>(c - 'A' + 'a');
    const auto& operation = paths.at(route.pattern).at(method).as_object();
    EXPECT_EQ(operation.contains("security"), route.need == Need::open) << route.pattern;
    EXPECT_EQ(operation.contains("requestBody"), route.body != BodyKind::none) << route.pattern;
    EXPECT_EQ(operation.contains("servers"), route.listeners != kOnPublic) << route.pattern;
  }
}

}  // namespace
}  // namespace shepherd
