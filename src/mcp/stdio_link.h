// A server that is a program: a message in each line of its standard streams.
#pragma once

#include <memory>

#include "mcp/child.h"
#include "mcp/framing.h"
#include "mcp/link.h"
#include "mcp/mcp_config.h"
#include "mcp/server_log.h"

namespace shepherd {

// Lines that are no message are skipped, because many programs print a greeting. A line that is too long ends the
// connection. Threads: strand.
class McpStdioLink final : public McpLink, private McpChildObserver {
 public:
  // `log` outlives it, and everything in `parts`.
  McpStdioLink(McpChildParts parts, AgentSpec spec, McpServerLog& log, McpLinkObserver& observer);
  ~McpStdioLink() override;

  void send(McpOutgoing message) override;
  void drop(std::int64_t) override {}
  void speak(std::string_view) override {}
  bool over_http() const override { return false; }
  bool stuck() const override { return child_->stuck(); }
  void end(std::function<void()> done) override;

 private:
  void on_child_output(std::string_view bytes) override;
  void on_child_errors(std::string_view bytes) override { log_.add(bytes); }
  void on_child_end(std::string how) override;
  bool take(std::string_view line);
  void close(std::string why);

  net::EventLoop& loop_;
  McpServerLog& log_;
  McpLinkObserver* observer_;  // null after the end
  McpLines lines_;
  std::function<void()> ended_;
  std::string why_;                      // it was closed from here; said once no process is left
  std::shared_ptr<McpStdioLink*> self_;  // posted work finds this by it, unless it is gone
  std::shared_ptr<McpChild> child_;
};

// The command, with a small environment of its own: what this process has in PATH, HOME, language and time zone, and
// what is configured. Its secrets stay here. The caller adds the confinement.
AgentSpec program_of(const McpServerConfig& config);

}  // namespace shepherd
