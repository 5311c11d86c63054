#include "cli/demo_scripts.h"

namespace shepherd {
namespace {

// Two bugs, three test runs, and a push that needs approval.
constexpr const char* kFixLogin = R"json([
  {"think":"The test fails only sometimes. That smells of time: a token that expires between two lines."},
  {"say":"I will look at the failing test first."},
  {"tool":"Read","input":{"file_path":"tests/login_test.py"},"ms":700,
   "result":"1  def test_session_expires(clock):\n2      token = login('ada', ttl=1)\n3      time.sleep(1)\n4      assert expired(token)"},
  {"sleep":2500},
  {"tool":"Grep","input":{"pattern":"def expired","path":"src"},"ms":400,
   "result":"src/auth/session.py:41:def expired(token):\nsrc/auth/session.py:58:def expired_since(token):"},
  {"sleep":1800},
  {"tool":"Read","input":{"file_path":"src/auth/session.py","offset":36,"limit":12},"ms":300,
   "result":"41  def expired(token):\n42      return token.issued + token.ttl < time.time()"},
  {"sleep":3000},
  {"tool":"Bash","input":{"command":"pytest tests/login_test.py -q --count 20","description":"Run the test twenty times"},"ms":6500,"error":true,
   "result":"\u001b[31mF\u001b[0m\u001b[32m...................\u001b[0m\n\u001b[31mFAILED\u001b[0m tests/login_test.py::test_session_expires - assert False\n1 failed, 19 passed in 21.40s"},
  {"say":"One of twenty fails: `<` should be `<=`, and the test should not sleep on the real clock."},
  {"sleep":2500},
  {"tool":"Edit","input":{"file_path":"src/auth/session.py","old_string":"    return token.issued + token.ttl < time.time()","new_string":"    return token.issued + token.ttl <= clock.now()"},"ms":250,
   "result":"The file src/auth/session.py has been updated."},
  {"sleep":2000},
  {"tool":"Edit","input":{"file_path":"tests/login_test.py","old_string":"    time.sleep(1)\n    assert expired(token)","new_string":"    clock.advance(seconds=1)\n    assert expired(token)"},"ms":250,
   "result":"The file tests/login_test.py has been updated."},
  {"sleep":2000},
  {"tool":"Bash","input":{"command":"pytest tests/login_test.py -q --count 20","description":"Run the test twenty times"},"ms":5000,
   "result":"\u001b[32m....................\u001b[0m\n20 passed in 0.31s"},
  {"say":"Twenty of twenty, and seventy times as fast. I would like to push the branch."},
  {"tool":"Bash","input":{"command":"git push origin fix/flaky-login","description":"Push the fix"},"permission":true,"ms":2500,
   "result":"To https://example.com/shop.git\n * [new branch]      fix/flaky-login -> fix/flaky-login"},
  {"say":"The login test no longer depends on the clock of the machine, and `expired` is right at the very second."}
])json";

// Many files, a sub-agent, some failures; runs for minutes.
constexpr const char* kMigrate = R"json([
  {"say":"Forty call sites use the old client. I will move them in small steps and run the tests after each."},
  {"tool":"Grep","input":{"pattern":"OldHttpClient","output_mode":"count"},"ms":800,
   "result":"src/billing/invoice.ts:9\nsrc/orders/api.ts:14\nsrc/search/client.ts:6\nsrc/shared/retry.ts:11"},
  {"agent":"Find out what the old client retries","steps":[
    {"tool":"Read","input":{"file_path":"src/shared/retry.ts"},"ms":900,"result":"export const RETRY = [502, 503, 504];"},
    {"sleep":2500},
    {"tool":"Grep","input":{"pattern":"RETRY","path":"src"},"ms":600,"result":"src/orders/api.ts:31:  retry: RETRY,"},
    {"say":"It retries 502, 503 and 504, three times, with no jitter."}]},
  {"repeat":12,"steps":[
    {"tool":"Read","input":{"file_path":"src/orders/api.ts"},"ms":500,"result":"import { OldHttpClient } from '../shared/http';"},
    {"sleep":3500},
    {"tool":"Edit","input":{"file_path":"src/orders/api.ts","old_string":"new OldHttpClient({ retry: RETRY })","new_string":"createClient({ retry: { on: [502, 503, 504], jitter: true } })"},"ms":300,
     "result":"The file src/orders/api.ts has been updated."},
    {"sleep":3000},
    {"tool":"Bash","input":{"command":"npm test -- orders","description":"Test what changed"},"ms":5500,
     "result":"\u001b[32m✓\u001b[0m orders/api (42 tests) 1.9s\n\nTests: 42 passed"},
    {"sleep":3500},
    {"tool":"Bash","input":{"command":"npx tsc --noEmit","description":"Check types"},"ms":4000,"error":true,
     "result":"src/search/client.ts(18,7): error TS2345: Argument of type 'OldOptions' is not assignable to parameter of type 'ClientOptions'."},
    {"say":"search/client.ts still passes the old options; that one is next."},
    {"sleep":4000}]},
  {"say":"All forty call sites use the new client, and the old one is gone."}
])json";

// Cannot decide, and asks.
constexpr const char* kSchema = R"json([
  {"think":"Orders grow by two million rows a month. Both ways are sound; the choice is not mine."},
  {"tool":"Read","input":{"file_path":"db/schema.sql"},"ms":700,"result":"CREATE TABLE orders (id bigint PRIMARY KEY, placed_at timestamptz, …);"},
  {"sleep":3000},
  {"tool":"Bash","input":{"command":"psql -c 'SELECT count(*) FROM orders'","description":"How many there are"},"ms":2200,
   "result":" count\n----------\n 41873320"},
  {"sleep":2500},
  {"ask":[{"question":"How should the orders table be split?","header":"Partitions","multiSelect":false,"options":[
     {"label":"By month","description":"Old months can be dropped at once; most queries name a date"},
     {"label":"By customer","description":"A customer's orders stay together; nothing is ever dropped cheaply"}]}]},
  {"say":"Thank you. I write the migration that way."},
  {"tool":"Write","input":{"file_path":"db/migrations/0042_partition_orders.sql","content":"BEGIN;\nALTER TABLE orders RENAME TO orders_old;\nCREATE TABLE orders (LIKE orders_old) PARTITION BY RANGE (placed_at);\nCOMMIT;\n"},"ms":400,
   "result":"File created successfully at: db/migrations/0042_partition_orders.sql"},
  {"sleep":2000},
  {"say":"The migration is written; nothing has been run against a database."}
])json";

// Gives up.
constexpr const char* kUpgrade = R"json([
  {"say":"I will take the major version and see what breaks."},
  {"tool":"Bash","input":{"command":"npm install framework@9","description":"Upgrade"},"ms":5000,
   "result":"added 12 packages, changed 41 packages in 5s"},
  {"sleep":2000},
  {"tool":"Bash","input":{"command":"npm run build","description":"Build"},"ms":6000,"error":true,
   "result":"\u001b[31merror\u001b[0m: Cannot find module 'framework/legacy-router'\n  at src/routes.ts:3:1"},
  {"retry":529,"attempt":1,"delay":800},
  {"sleep":2500},
  {"tool":"Bash","input":{"command":"npm run build","description":"Build again"},"ms":4500,"error":true,
   "result":"\u001b[31merror\u001b[0m: 63 errors in 27 files"},
  {"say":"The legacy router is gone in this version. That is more than an upgrade."},
  {"fail":"error_max_turns","error":"Reached the limit of turns","reason":"max_turns"}
])json";

}  // namespace

std::vector<DemoAgent> demo_agents() {
  return {
      {"Fix the flaky login test", "tests/login_test.py fails about once in twenty runs. Find out why and fix it.",
       "claude-sonnet-demo", "interactive", kFixLogin},
      {"Move to the new HTTP client", "Replace OldHttpClient everywhere, keep what it retries, run the tests.",
       "claude-opus-demo", "autonomous", kMigrate},
      {"Split the orders table", "The orders table is too large. Write a migration that partitions it.",
       "claude-sonnet-demo", "interactive", kSchema},
      {"Upgrade the framework", "Upgrade framework from 8 to 9.", "claude-haiku-demo", "autonomous", kUpgrade},
  };
}

std::vector<std::string> demo_review() {
  return {
      R"({"type":"session_start","summary":"Nightly security review","sessionID":"demo-review","data":{"model":"reviewer-demo"}})",
      R"({"type":"thinking","summary":"Reading what changed since yesterday: 14 files","data":{"kind":"text"}})",
      R"({"type":"tool_call","summary":"Scanning dependencies","tool":"Scan","callID":"r1","input":{"command":"osv-scanner ."}})",
      R"({"type":"tool_result","summary":"2 advisories","tool":"Scan","callID":"r1","output":{"success":true,"summary":"2 advisories"}})",
      R"({"type":"finding","summary":"SQL built from request parameters in orders/report","data":{"severity":"high","confidence":0.92,"category":"injection","title":"SQL built from request parameters","description":"`sort` goes into ORDER BY unchecked.","file":"src/orders/report.ts","line":88}})",
      R"({"type":"finding","summary":"Session cookie without SameSite","data":{"severity":"medium","confidence":0.8,"category":"session","title":"Session cookie without SameSite","file":"src/auth/cookie.ts","line":12}})",
      R"({"type":"finding","summary":"Dependency with a known denial of service","data":{"severity":"low","confidence":0.99,"category":"dependency","title":"left-trim 1.2.0","description":"Fixed in 1.2.4."}})",
      R"({"type":"usage","summary":"Used 18k tokens","sessionID":"demo-review","data":{"costUSD":0.11,"inputTokens":16200,"outputTokens":1900,"turns":3}})",
  };
}

}  // namespace shepherd
