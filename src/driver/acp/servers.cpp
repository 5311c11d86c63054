#include "driver/acp/servers.h"

#include "driver/acp/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

// An object of texts as a list of names and values.
std::string named_values(std::string_view object) {
  std::string list = "[";
  JsonMembers members(object.starts_with('{') ? object : "{}");
  while (members.next()) {
    if (!members.value().starts_with('"')) continue;
    if (list.size() > 1) list.push_back(',');
    list.append("{\"name\":\"").append(members.key()).append("\",\"value\":").append(members.value()).push_back('}');
  }
  return list + "]";
}

std::string_view or_empty_list(std::string_view value) {
  return value.starts_with('[') ? value : std::string_view("[]");
}

}  // namespace

AcpServers acp_servers(std::string_view servers, bool http, bool sse) {
  AcpServers out;
  std::string_view inner = find_member(servers, "mcpServers");
  std::string_view all = inner.empty() ? servers : inner;
  if (!all.starts_with('{')) return out;
  std::size_t count = 0;
  std::string list;
  JsonMembers members(all);
  while (members.next() && count < kMaxAcpServers) {
    std::string_view server = members.value();
    std::string name = unescape(members.key()).value_or("");
    std::string url = text_member(server, "url");
    std::string type = text_member(server, "type");
    if (type.empty()) type = url.empty() ? "stdio" : "http";
    if (type == "streamable-http" || type == "streamable_http") type = "http";
    bool known = type == "stdio" || (type == "http" && http) || (type == "sse" && sse);
    if (!known) {
      out.refused.push_back(name.append(" (").append(type).append(")"));
      continue;
    }
    ++count;
    if (!list.empty()) list.push_back(',');
    write_object(list, [&](JsonObject& object) {
      if (type == "stdio") {
        object.text("name", name);
        object.text("command", text_member(server, "command"));
        object.json("args", or_empty_list(find_member(server, "args")));
        object.json("env", named_values(find_member(server, "env")));
      } else {
        object.text("type", type);
        object.text("name", name);
        object.text("url", url);
        object.json("headers", named_values(find_member(server, "headers")));
      }
    });
  }
  out.json = "[" + list + "]";
  return out;
}

}  // namespace shepherd
