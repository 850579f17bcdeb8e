// Loading settings from files, variables and the command line: the precedence of layers, and the
// errors for a wrong key or value.
#include "garrick/system/settings/load.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "garrick/base/platform/platform.hpp"
#include "garrick/sched/shipped_policies.hpp"
#include "garrick/system/settings/internal/temporary_file.hpp"

namespace load_test {

using garrick::base::duration;
using garrick::base::errc;
using garrick::base::setting_table;
using garrick::system::load_settings;
using garrick::system::log_level;
using garrick::system::setting_layers;

namespace {

std::string error_of(const setting_layers& sources) {
  const auto loaded = load_settings(sources);
  if (loaded) return "accepted";
  CHECK(loaded.error() == errc::invalid_setting);
  return std::string(loaded.error().detail());
}

std::string error_of_argument(const std::string& argument) {
  return error_of({.arguments = {argument}});
}
std::string error_of_variable(const std::string& entry) {
  return error_of({.environment = {entry}});
}

}  // namespace

TEST_CASE("a variable sets a key, and other programs' variables are left alone") {
  const auto loaded =
      load_settings({.environment = {"GARRICK_MAILBOX_SOFT_LIMIT=700", "HOME=/root",
                                     "GARRICK_LOG_LEVEL=off", "GARRICK_SCHEDULER_IDLE_SPIN=50us"}});
  REQUIRE(loaded);
  CHECK(loaded->system.mailbox.soft_limit == 700);
  CHECK(loaded->system.log.level == log_level::off);
  CHECK(loaded->system.scheduler.idle_spin == duration::microseconds(50));
}

TEST_CASE("every policy can be chosen, and each kind of thread has its own processors") {
  for (const auto& policy : garrick::sched::shipped_policies()) {
    const std::string name(policy.name);
    CAPTURE(name);
    const auto loaded = load_settings({.environment = {"GARRICK_SCHEDULER_POLICY=" + name}});
    CHECK(loaded.has_value() == policy.available);
    if (loaded)
      CHECK(loaded->system.scheduler.policy == name);
    else
      CHECK(loaded.error().detail().ends_with("this build (GARRICK_MINIMAL) does not contain it"));
  }
  CHECK(error_of_variable("GARRICK_SCHEDULER_POLICY=polling")
            .find("the key 'scheduler.policy' wants one of work_stealing, ") != std::string::npos);
  const std::string here =
      "<" + std::to_string(garrick::base::platform::usable_processors().front()) + ">";
  const auto loaded = load_settings(
      {.environment = {"GARRICK_SCHEDULER_AFFINITY=" + here,
                       "GARRICK_DETACHED_AFFINITY=" + here + here,
                       "GARRICK_DETACHED_AFFINITY_BLOCKING=" + here + " " + here,
                       "GARRICK_SCHEDULER_PIN=unit", "GARRICK_SCHEDULER_NEIGHBOURS=node"}});
  REQUIRE(loaded);
  CHECK(loaded->system.scheduler.affinity == here);
  CHECK(loaded->system.detached.affinity == here + here);
  CHECK(loaded->system.detached.affinity_blocking == here + " " + here);
  CHECK(loaded->system.scheduler.pin == "unit");
  CHECK(loaded->system.scheduler.neighbours == "node");
}

TEST_CASE("a variable that is meant for tests is no setting, and no error") {
  for (const char* entry : {"GARRICK_SEED=17", "GARRICK_SEEDS=20", "GARRICK_TORTURE=3"}) {
    CAPTURE(entry);
    setting_layers layers;
    layers.environment = {entry};
    CHECK(load_settings(layers).has_value());
  }
}

TEST_CASE("a name that is far too long is cut, and no nearest is searched") {
  const std::string text = error_of_variable("GARRICK_" + std::string(900'000, 'Q') + "=1");
  CHECK(text.find("there is no variable 'GARRICK_QQQ") != std::string::npos);
  CHECK(text.find("did you mean") == std::string::npos);
  CHECK(text.size() < 1000);
  const std::string value = error_of_variable("GARRICK_LOG_LEVEL=" + std::string(900'000, 'Q'));
  CHECK(value.find("not 'QQQ") != std::string::npos);
  CHECK(value.size() < 1000);
}

TEST_CASE("a misspelt variable is an error that names the nearest") {
  CHECK(error_of_variable("GARRICK_SCHEDULER_WOKERS=2") ==
        "environment variable GARRICK_SCHEDULER_WOKERS: there is no variable "
        "'GARRICK_SCHEDULER_WOKERS'; did you mean "
        "'GARRICK_SCHEDULER_WORKERS'?");
  CHECK(error_of_variable("GARRICK_SCHEDULER_WORKERS=many") ==
        "environment variable GARRICK_SCHEDULER_WORKERS: the key 'scheduler.workers' wants a whole "
        "number from 0 to 1024 (threads), not 'many'");
  CHECK(error_of_variable("GARRICK_SCHEDULER_WORKERS") ==
        "environment variable GARRICK_SCHEDULER_WORKERS: the key 'scheduler.workers' wants a whole "
        "number from 0 to 1024 (threads), not an empty text");
}

TEST_CASE("GARRICK_CONFIG must name a file, as --config must") {
  for (const char* entry : {"GARRICK_CONFIG=", "GARRICK_CONFIG"})
    CHECK(error_of_variable(entry) ==
          "environment variable GARRICK_CONFIG: it wants the name of a file, not an empty text");
}

TEST_CASE("a text that is no UTF-8 is refused with key and source") {
  std::string room = "hall";
  setting_table own;
  own.add({"chat.room", &room});
  CHECK(error_of({.environment = {"GARRICK_CHAT_ROOM=a\xff"}, .own = &own}) ==
        "environment variable GARRICK_CHAT_ROOM: the key 'chat.room' wants text in UTF-8");
  CHECK(room == "hall");
}

namespace {

/// A part of the framework, as an example: its settings, and a function that adds their rows.
struct post_settings {
  duration delivery_time = duration::seconds(5);
  std::uint32_t carriers = 3;
};
void add_settings(setting_table& table, post_settings& s) {
  table.add({"post.delivery_time", &s.delivery_time, {}, "", "How long a letter takes", "post"});
  table.add({"post.carriers", &s.carriers, {1, 9}, "carriers", "Who carries letters", "post"});
}

}  // namespace

TEST_CASE("a part brings its section along, with defaults, ranges and sources") {
  CHECK(error_of_variable("GARRICK_POST_CARRIERS=2") ==
        "environment variable GARRICK_POST_CARRIERS: there is no variable 'GARRICK_POST_CARRIERS'");
  post_settings post;
  setting_table own;
  add_settings(own, post);
  CHECK(error_of({.environment = {"GARRICK_POST_CARRIERS=10"}, .own = &own}) ==
        "environment variable GARRICK_POST_CARRIERS: the key 'post.carriers' wants a whole number "
        "from 1 to 9 (carriers), not '10'");
  CHECK(post.carriers == 3);
  const auto loaded =
      load_settings({.environment = {"GARRICK_POST_DELIVERY_TIME=2 d"}, .own = &own});
  REQUIRE(loaded);
  CHECK(post.delivery_time == duration::seconds(2 * 86'400));
  const auto told =
      std::ranges::find(loaded->list, "post.delivery_time", &garrick::system::setting_report::key);
  REQUIRE(told != loaded->list.end());
  CHECK(told->source == "environment variable GARRICK_POST_DELIVERY_TIME");
}

TEST_CASE("a variable of a part that is not there says so, and of one that is there does not") {
  CHECK(error_of_variable("GARRICK_GPU_PORT=80") ==
        "environment variable GARRICK_GPU_PORT: gpu.* belongs to garrick::gpu, which this program "
        "does not link, or whose settings it does not add");
  std::uint32_t port = 80;
  setting_table own;
  own.add({"gpu.port", &port, {1, 65'535}, "port", "Where the page is"});
  REQUIRE(load_settings({.environment = {"GARRICK_GPU_PORT=81"}, .own = &own}));
  CHECK(port == 81);
  CHECK(error_of({.environment = {"GARRICK_GPU_PROT=81"}, .own = &own})
            .ends_with("did you mean 'GARRICK_GPU_PORT'?"));
}

TEST_CASE("values that used to fail late, and namelessly, are refused with key, source and range") {
  CHECK(error_of_variable("GARRICK_REQUESTS_OUTSTANDING_LIMIT=unlimited") ==
        "environment variable GARRICK_REQUESTS_OUTSTANDING_LIMIT: the key "
        "'requests.outstanding_limit' wants a whole number from 1 to 1048576 (requests), not "
        "'unlimited'");
  CHECK(error_of_variable("GARRICK_SCHEDULER_THREAD_NAME=eleven-byte") ==
        "environment variable GARRICK_SCHEDULER_THREAD_NAME: the key 'scheduler.thread_name' wants "
        "text of at most 10 bytes, not 'eleven-byte'");
  CHECK(error_of_variable("GARRICK_SCHEDULER_AFFINITY=<0")
            .starts_with("environment variable GARRICK_SCHEDULER_AFFINITY: the key "
                         "'scheduler.affinity' wants groups of processors"));
}

#if !defined(GARRICK_MINIMAL)

namespace {

using garrick::system::internal::temporary_file;

/// Returns the error, with "file" in place of the file's name.
std::string error_of_file(const std::string& content) {
  const temporary_file file(content);
  std::string text = error_of({.file = file.path()});
  if (text.starts_with(file.path())) text.replace(0, file.path().size(), "file");
  return text;
}

}  // namespace

TEST_CASE("each layer wins over the one before") {
  const temporary_file file(
      R"({"scheduler": {"workers": 1, "quantum": 100, "policy": "work_sharing"},
          "mailbox": {"soft_limit": 300}})");
  const auto loaded = load_settings(
      {.file = file.path(),
       .environment = {"GARRICK_SCHEDULER_WORKERS=2", "GARRICK_SCHEDULER_QUANTUM=200"},
       .arguments = {"--scheduler.workers=3"}});
  REQUIRE(loaded);
  CHECK(loaded->system.scheduler.workers == 3);
  CHECK(loaded->system.scheduler.quantum == 200);
  CHECK(loaded->system.scheduler.policy == "work_sharing");
  CHECK(loaded->system.mailbox.soft_limit == 300);
}

TEST_CASE("the file is named by --config, else GARRICK_CONFIG, else the program") {
  const temporary_file a(R"({"scheduler": {"workers": 1}})");
  const temporary_file b(R"({"scheduler": {"workers": 2}})");
  const temporary_file c(R"({"scheduler": {"workers": 3}})");
  CHECK(load_settings({.file = a.path()})->system.scheduler.workers == 1);
  CHECK(load_settings({.file = a.path(), .environment = {"GARRICK_CONFIG=" + b.path()}})
            ->system.scheduler.workers == 2);
  CHECK(load_settings({.file = a.path(),
                       .environment = {"GARRICK_CONFIG=" + b.path()},
                       .arguments = {"--config", c.path()}})
            ->system.scheduler.workers == 3);
  CHECK(error_of({.file = "/no/such/file.json"}) ==
        "/no/such/file.json: the file cannot be opened: No such file or directory");
}

TEST_CASE("a file that holds no settings is refused before it costs memory") {
  CHECK(error_of({.file = "/dev/zero"}) ==
        "/dev/zero: a file of settings has at most 1048576 bytes");
  CHECK(error_of({.file = "/tmp"}) == "/tmp: the file cannot be read: Is a directory");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  const temporary_file file(deep);
  CHECK(error_of({.file = file.path()}) == file.path() + ":1: more than 16 objects in each other");
}

TEST_CASE("every type of value is read") {
  const temporary_file file(R"({
    // comments are allowed
    "scheduler": {"best_effort": true, "idle_spin": "1.5ms", "quantum": "unlimited"},
    "watchdog": {"after": "0s"},
    "shutdown": {"deadline": "infinite"},
    "log": {"level": "debug"},
    "mailbox": {}
  })");
  const auto loaded =
      load_settings({.file = file.path(),
                     .arguments = {"--mailbox.in_place", "false", "--mailbox.full_wait=2 ms"}});
  REQUIRE(loaded);
  CHECK(loaded->system.scheduler.best_effort);
  CHECK(loaded->system.scheduler.idle_spin == duration::microseconds(1500));
  CHECK(loaded->system.scheduler.quantum == 0xffff'ffff);
  CHECK(loaded->system.watchdog.after == duration());
  CHECK(loaded->system.shutdown.deadline.is_infinite());
  CHECK(loaded->system.log.level == log_level::debug);
  CHECK_FALSE(loaded->system.mailbox.in_place);
  CHECK(loaded->system.mailbox.full_wait == duration::milliseconds(2));
}

TEST_CASE("an error in the file names line, key and the nearest key") {
  CHECK(error_of_file("{\n  \"scheduler\": {\n    \"wokers\": 2\n  }\n}") ==
        "file:3: there is no key 'scheduler.wokers'; did you mean 'scheduler.workers'?");
  CHECK(error_of_file("{\n\"schedular\": {\"workers\": 2}}") ==
        "file:2: there is no section 'schedular'; did you mean 'scheduler'?");
  CHECK(error_of_file("{\"workers\": 2}") ==
        "file:1: there is no key 'workers'; did you mean 'scheduler.workers'?");
  CHECK(error_of_file("{\"mailbox\": {\n\n\"soft_limit\":\n\n\"ten\"\n}}") ==
        "file:3: the key 'mailbox.soft_limit' wants a whole number from 1 to 32768 (messages), not "
        "the text \"ten\"");
}

TEST_CASE("a value of the wrong JSON type is refused, even if its text would do") {
  CHECK(error_of_file(R"({"scheduler": {"workers": "2"}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024 (threads), not "
        "the text \"2\"");
  CHECK(error_of_file(R"({"scheduler": {"workers": 2.5}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024 (threads), not "
        "the number 2.5");
  CHECK(error_of_file(R"({"scheduler": {"workers": -1}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024 (threads), not "
        "'-1'");
  CHECK(error_of_file(R"({"scheduler": {"workers": 99999999999999999999}})")
            .find("'scheduler.workers' wants") != std::string::npos);
  CHECK(error_of_file(R"({"scheduler": {"workers": null}})") ==
        "file:1: the key 'scheduler.workers' cannot be null");
  CHECK(error_of_file(R"({"scheduler": {"workers": [1]}})") ==
        "file:1: the key 'scheduler.workers' cannot be a list");
  CHECK(error_of_file(R"({"scheduler": {"workers": {"n": 1}}})") ==
        "file:1: the key 'scheduler.workers' wants a value, not a section");
  CHECK(error_of_file(R"({"scheduler": 1})") ==
        "file:1: 'scheduler' is a section: { \"scheduler\": { \"key\": value } }");
  CHECK(error_of_file(R"({"scheduler": {"best_effort": 1}})") ==
        "file:1: the key 'scheduler.best_effort' wants true or false, not the number 1");
  CHECK(error_of_file(R"({"scheduler": {"best_effort": "true"}})") ==
        "file:1: the key 'scheduler.best_effort' wants true or false, not the text \"true\"");
  CHECK(error_of_file(R"({"scheduler": {"thread_name": 5}})")
            .ends_with("wants text of at most 10 bytes, not the number 5"));
  CHECK(error_of_file(R"({"scheduler": {"thread_name": true}})")
            .ends_with("wants text of at most 10 bytes, not the boolean true"));
  CHECK(error_of_file("{\"scheduler\": {\"workers\": \"" + std::string(100'000, '1') + "\"}}")
            .size() < 1000);
  CHECK(error_of_file(R"({"watchdog": {"after": 5}})") ==
        "file:1: the key 'watchdog.after' wants a time with a unit from 0s to infinite, not the "
        "number 5");
  CHECK(error_of_file(R"({"log": {"level": "loud"}})") ==
        "file:1: the key 'log.level' wants one of debug, info, warning, error, off, not 'loud'");
  CHECK(error_of_file(R"({"log": {"level": "off",
    "level": "off"}})") == "file:2: the key 'log.level' is there twice");
}

TEST_CASE("text that is not JSON, or not an object, is refused with its line") {
  CHECK(error_of_file("{\n\"scheduler\": {\n").starts_with("file:3: this is not JSON"));
  CHECK(error_of_file("") == "file:1: this is not JSON: the file ends too early");
  CHECK(error_of_file("{") == "file:1: this is not JSON: the file ends too early");
  CHECK(error_of_file("{\"log\": {\"level\": \"of") ==
        "file:1: this is not JSON: the file ends too early");
  CHECK(error_of_file("[1]") ==
        "file:1: a file of settings is an object: { \"section\": { \"key\": value } }");
  CHECK(error_of_file("{\"mailbox\": {\"soft_limit\": 5}} x") ==
        "file:1: this is not JSON: unexpected \"x\"");
  CHECK(error_of_file("{\"mailbox\": {\"soft_limit\":, 5}}") ==
        "file:1: this is not JSON: unexpected \",\"");
  CHECK(error_of_file("{\"mailbox\" \"soft limit\"}") ==
        "file:1: this is not JSON: unexpected \"\\\"soft limit\\\"\"");
  CHECK(error_of_file("{\x1b}") == "file:1: this is not JSON: unexpected \"\\x1b\"");
  CHECK(error_of_file("{" + std::string(100'000, 'x')).size() < 1000);
}

TEST_CASE("an empty key is refused as one") {
  CHECK(error_of_file("{\n\"\": {\"\": 5}}") == "file:2: a key is empty");
  CHECK(error_of_file("{\"mailbox\": {\"\": 5}}") == "file:1: a key is empty");
}

TEST_CASE("an error on the command line names the argument and the nearest option") {
  CHECK(error_of_argument("--scheduler.wokers=2") ==
        "argument --scheduler.wokers: there is no option '--scheduler.wokers'; did you mean "
        "'--scheduler.workers'?");
  CHECK(error_of_argument("--workers=2") ==
        "argument --workers: there is no option '--workers'; did you mean '--scheduler.workers'?");
  CHECK(error_of_argument("--dump-confg") ==
        "argument --dump-confg: there is no option '--dump-confg'; did you mean '--dump-config'?");
  CHECK(error_of_argument("--scheduler.workers=2000") ==
        "argument --scheduler.workers: the key 'scheduler.workers' wants a whole number from 0 to "
        "1024 (threads), not '2000'");
  CHECK(error_of_argument("stray") ==
        "argument stray: unexpected: the program's own arguments come after --");
  CHECK(error_of_argument("--scheduler.workers") ==
        "argument --scheduler.workers: its value is missing: --scheduler.workers=VALUE");
  CHECK(error_of({.arguments = {"--scheduler.thread_name", "--log.level=off"}}) ==
        "argument --scheduler.thread_name: its value is missing: --scheduler.thread_name=VALUE");
  CHECK(error_of_argument("--config") == "argument --config: its value is missing: --config=VALUE");
  CHECK(error_of_argument("--config=") ==
        "argument --config: it wants the name of a file, not an empty text");
  CHECK(error_of_argument("--dump-config=yes") == "argument --dump-config: it takes no value");
  CHECK(error_of_argument("--help=1") == "argument --help: it takes no value");
  CHECK(error_of_argument("-h=1") == "argument -h: it takes no value");
  CHECK(error_of_argument("-scheduler.workers=5") ==
        "argument -scheduler.workers: an option begins with two dashes: --scheduler.workers");
  CHECK(error_of_argument("-help") == "argument -help: an option begins with two dashes: --help");
  CHECK(error_of_argument("-v") == "argument -v: there is no option '-v'");
  CHECK(error_of_argument("-scheduler.wokers=5") ==
        "argument -scheduler.wokers: there is no option '-scheduler.wokers'; did you mean "
        "'--scheduler.workers'?");
  CHECK(error_of_argument("---version") == "argument ---version: there is no option '---version'");
  CHECK(error_of({.arguments = {"--scheduler.workers=1", "--scheduler.workers=2"}}) ==
        "argument --scheduler.workers: it is there twice");
}

TEST_CASE("only near names are suggested") {
  for (const char* word :
       {"verbose", "x", "scheduler.foo", "mailbox.colour", "wrkzz", "chat.room"}) {
    CAPTURE(word);
    CHECK(error_of_argument("--" + std::string(word)) ==
          "argument --" + std::string(word) + ": there is no option '--" + word + "'");
  }
  CHECK(error_of_argument("--verbose=1").find("did you mean") == std::string::npos);
  CHECK(error_of_variable("GARRICK_FOO=1") ==
        "environment variable GARRICK_FOO: there is no variable 'GARRICK_FOO'");
  CHECK(error_of_variable("GARRICK_MAILBOX_COLOUR=1").find("did you mean") == std::string::npos);
  CHECK(error_of_file(R"({"kitchen": {"stove": 1}})") == "file:1: there is no section 'kitchen'");
  CHECK(error_of_argument("--mailbox.soft_limt=1").ends_with("mean '--mailbox.soft_limit'?"));
  CHECK(error_of_argument("--mailbox.softlimit=1").ends_with("mean '--mailbox.soft_limit'?"));
  CHECK(error_of_argument("--soft_limit=1").ends_with("mean '--mailbox.soft_limit'?"));
  CHECK(error_of_argument("--scheduler.thread=1").ends_with("mean '--scheduler.thread_name'?"));
  CHECK(error_of_argument("--mailboxes.in_place=1").ends_with("mean '--mailbox.in_place'?"));
}

TEST_CASE(
    "a text may be emptied or stand in brackets, and a setting that wants no empty text says so") {
  std::string room = "hall";
  std::string house = "inn";
  setting_table own;
  own.add({"chat.room", &room});
  own.add({"chat.house", &house, {1, 20}});
  const auto loaded = load_settings(
      {.arguments = {"--scheduler.thread_name=", "--chat.room=", "--chat.house=[a, b]"},
       .own = &own});
  REQUIRE(loaded);
  CHECK(loaded->system.scheduler.thread_name.empty());
  CHECK(room.empty());
  CHECK(house == "[a, b]");
  REQUIRE(load_settings({.arguments = {"--chat.room", "", "--chat.house", "-1"}, .own = &own}));
  CHECK(room.empty());
  CHECK(house == "-1");
  CHECK(error_of({.arguments = {"--chat.house="}, .own = &own}) ==
        "argument --chat.house: the key 'chat.house' wants text of 1 to 20 bytes, not an empty "
        "text");
  CHECK(error_of_argument("--scheduler.workers=") ==
        "argument --scheduler.workers: the key 'scheduler.workers' wants a whole number from 0 to "
        "1024 (threads), not an empty text");
  CHECK(error_of_argument("--scheduler.policy=").ends_with(", not an empty text"));
  CHECK(error_of_argument("--watchdog.after=").ends_with(", not an empty text"));
}

TEST_CASE("settings that contradict each other are refused") {
  CHECK(error_of({.arguments = {"--mailbox.hard_limit=10"}}) ==
        "argument --mailbox.hard_limit: the key 'mailbox.hard_limit' must not be below "
        "'mailbox.soft_limit'");
}

TEST_CASE("arguments after -- are the program's") {
  const auto loaded =
      load_settings({.arguments = {"--scheduler.workers=2", "--", "--verbose", "file.txt"}});
  REQUIRE(loaded);
  CHECK(loaded->rest == std::vector<std::string>{"--verbose", "file.txt"});
}

TEST_CASE("a program's own keys work in every layer and change only if all is valid") {
  int64_t clients = 10;
  std::string room = "hall";
  double rate = 1;
  bool loud = false;
  duration pause = duration::seconds(1);
  setting_table own;
  own.add({"chat.clients", &clients, {1, 100}, "clients", "How many are started"});
  own.add({"chat.room", &room, {}, "", "Where they meet"});
  own.add({"chat.rate", &rate, {}, "messages a second", "How much each says"});
  own.add({"chat.loud", &loud, {}, "", "Shout"});
  own.add({"chat.pause", &pause, {}, "", "Between two messages"});
  CHECK(error_of({.environment = {"GARRICK_CHAT_CLIENTS=20"},
                  .arguments = {"--chat.romm=attic"},
                  .own = &own}) ==
        "argument --chat.romm: there is no option '--chat.romm'; did you mean '--chat.room'?");
  CHECK(error_of({.environment = {"GARRICK_CHAT_CLIENTS=20"},
                  .arguments = {"--mailbox.hard_limit=1"},
                  .own = &own}) != "accepted");
  CHECK(clients == 10);
  const temporary_file file(R"({"chat": {"rate": 2.5, "pause": "10ms"}})");
  REQUIRE(load_settings({.file = file.path(),
                         .environment = {"GARRICK_CHAT_CLIENTS=20"},
                         .arguments = {"--chat.room=attic", "--chat.loud=true"},
                         .own = &own}));
  CHECK(clients == 20);
  CHECK(room == "attic");
  CHECK(rate == 2.5);
  CHECK(loud);
  CHECK(pause == duration::milliseconds(10));
}

TEST_CASE("each load begins with the defaults, not with the values of an earlier one") {
  std::uint32_t clients = 10;
  setting_table own;
  own.add({"chat.clients", &clients, {1, 100}, "clients", "How many are started"});
  REQUIRE(load_settings({.environment = {"GARRICK_CHAT_CLIENTS=20"}, .own = &own}));
  CHECK(clients == 20);
  CHECK(error_of({.environment = {"GARRICK_MAILBOX_HARD_LIMIT=1"}, .own = &own}) != "accepted");
  CHECK(clients == 20);
  const auto again = load_settings({.own = &own});
  REQUIRE(again);
  CHECK(clients == 10);
  CHECK(again->list.back().key == "chat.clients");
  CHECK(again->list.back().value == "10");
  CHECK(again->list.back().source == "default");
  const auto help = load_settings({.arguments = {"--help"}, .own = &own});
  REQUIRE(help);
  CHECK(help->print.find("1 to 100 (clients); default 10") != std::string::npos);
}

TEST_CASE("--help lists every key with its values and its default") {
  const auto loaded = load_settings({.program = "chat", .arguments = {"--help"}});
  REQUIRE(loaded);
  for (const char* expected :
       {"--scheduler.workers", "--log.level", "--dump-config", "--config", "work_sharing", "chat",
        "--print-settings", "1 to 32768 (messages); default 512"})
    CHECK(loaded->print.find(expected) != std::string::npos);
}

TEST_CASE("--dump-config writes a file that gives the same settings") {
  const std::string unusual = "a \"quoted\" \\ name \x1b\n\x7f ß";
  std::string name = unusual;
  setting_table own;
  own.add({"chat.name", &name, {}, "", "A name"});
  const auto first = load_settings({.arguments = {"--dump-config", "--scheduler.workers=7",
                                                  "--log.level=error", "--watchdog.after=1500us"},
                                    .own = &own});
  REQUIRE(first);
  CHECK(first->print.find("\"workers\": 7") != std::string::npos);
  name = "changed";
  const temporary_file file(first->print);
  const auto second =
      load_settings({.file = file.path(), .arguments = {"--dump-config"}, .own = &own});
  REQUIRE(second);
  CHECK(second->print == first->print);
  CHECK(second->system.scheduler.workers == 7);
  CHECK(second->system.log.level == log_level::error);
  CHECK(second->system.watchdog.after == duration::microseconds(1500));
  CHECK(name == unusual);
}

TEST_CASE("--print-settings gives the value of each setting, and its source") {
  std::uint32_t clients = 10;
  setting_table own;
  own.add({"chat.clients", &clients, {1, 100}, "clients", "How many are started"});
  const temporary_file file("{\"mailbox\": {\n\"soft_limit\": 700}}");
  const auto loaded = load_settings({.file = file.path(),
                                     .environment = {"GARRICK_CHAT_CLIENTS=20"},
                                     .arguments = {"--log.level=off", "--print-settings"},
                                     .own = &own});
  REQUIRE(loaded);
  const auto line_of = [&](const std::string& key) {
    const std::size_t begin = loaded->print.find(key + " ");
    REQUIRE(begin != std::string::npos);
    std::string line = loaded->print.substr(begin, loaded->print.find('\n', begin) - begin);
    line.erase(
        std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
        line.end());
    return line;
  };
  CHECK(line_of("chat.clients") == "chat.clients 20 environment variable GARRICK_CHAT_CLIENTS");
  CHECK(line_of("log.level") == "log.level off argument --log.level");
  CHECK(line_of("mailbox.soft_limit") == "mailbox.soft_limit 700 " + file.path() + ":2");
  CHECK(line_of("shutdown.deadline") == "shutdown.deadline 10s default");
}

TEST_CASE("a key of a part that is not there says so, wherever it stands") {
  CHECK(
      error_of_file("{\n\"net\": {\"port\": 7}}") ==
      "file:2: net.* belongs to garrick::net, which this program does not link, or whose settings "
      "it does not add");
  CHECK(
      error_of_argument("--gpu.device=1") ==
      "argument --gpu.device: gpu.* belongs to garrick::gpu, which this program does not link, or "
      "whose settings it does not add");
  CHECK(error_of_argument("--store.path=x") ==
        "argument --store.path: there is no option '--store.path'");
  CHECK(error_of_variable("GARRICK_OBSERVE_PORT=80") ==
        "environment variable GARRICK_OBSERVE_PORT: there is no variable 'GARRICK_OBSERVE_PORT'");
  CHECK(error_of_file(R"({"patterns": {"x": 7}})") == "file:1: there is no section 'patterns'");
}

#else

TEST_CASE("the minimal build reads the environment only") {
  CHECK(error_of({.file = "x.json"}).starts_with("x.json: this build reads no files"));
  CHECK(error_of_argument("--scheduler.workers=2")
            .starts_with("argument --scheduler.workers=2: this build has no command line"));
  CHECK(load_settings({.arguments = {"--", "mine"}})->rest == std::vector<std::string>{"mine"});
}

#endif

}  // namespace load_test
