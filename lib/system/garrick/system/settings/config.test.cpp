#include "garrick/system/settings/config.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

using garrick::base::duration;
using garrick::base::errc;
using garrick::system::config_options;
using garrick::system::config_sources;
using garrick::system::load_config;
using garrick::system::log_level;

namespace {

std::string error_of(const config_sources& sources) {
  const auto loaded = load_config(sources);
  if (loaded) return "accepted";
  CHECK(loaded.error() == errc::config_invalid);
  return std::string(loaded.error().detail());
}

std::string error_of_argument(const std::string& argument) {
  return error_of({.arguments = {argument}});
}
std::string error_of_variable(const std::string& entry) {
  return error_of({.environment = {entry}});
}

}  // namespace

TEST_CASE("without sources there are the defaults") {
  const auto loaded = load_config({});
  REQUIRE(loaded);
  const garrick::system::options defaults;
  CHECK(loaded->system.policy == defaults.policy);
  CHECK(loaded->system.workers == defaults.workers);
  CHECK(loaded->system.limits.soft_limit == defaults.limits.soft_limit);
  CHECK(loaded->system.limits.full_wait_ns == defaults.limits.full_wait_ns);
  CHECK(loaded->system.log == defaults.log);
  CHECK(loaded->print.empty());
}

TEST_CASE("a variable sets a key, and other variables are nobody's business") {
  const auto loaded =
      load_config({.environment = {"GARRICK_MAILBOX_SOFT_LIMIT=700", "HOME=/root",
                                   "GARRICK_LOG_LEVEL=off", "GARRICK_SCHEDULER_IDLE_SPIN=50us"}});
  REQUIRE(loaded);
  CHECK(loaded->system.limits.soft_limit == 700);
  CHECK(loaded->system.log == log_level::off);
  CHECK(loaded->system.idle_spin_us == 50);
}

TEST_CASE("every policy can be chosen, and each kind of thread has its own processors") {
  for (const char* policy : {"work_stealing", "locality_guided", "work_sharing", "polling_default",
                             "polling_custom", "polling_aggressive", "polling_new"}) {
    const auto loaded =
        load_config({.environment = {std::string("GARRICK_SCHEDULER_POLICY=") + policy}});
    REQUIRE(loaded);
    CHECK(loaded->system.policy == policy);
  }
  CHECK(error_of_variable("GARRICK_SCHEDULER_POLICY=polling")
            .find("the key 'scheduler.policy' wants") != std::string::npos);
  const auto loaded = load_config(
      {.environment = {"GARRICK_SCHEDULER_AFFINITY=<0>", "GARRICK_DETACHED_AFFINITY=<1>",
                       "GARRICK_DETACHED_AFFINITY_BLOCKING=<2-4> <1,5>",
                       "GARRICK_SCHEDULER_PIN=unit", "GARRICK_SCHEDULER_NEIGHBOURS=node"}});
  REQUIRE(loaded);
  CHECK(loaded->system.affinity == "<0>");
  CHECK(loaded->system.affinity_detached == "<1>");
  CHECK(loaded->system.affinity_blocking == "<2-4> <1,5>");
  CHECK(loaded->system.pin == "unit");
  CHECK(loaded->system.neighbours == "node");
}

TEST_CASE("a misspelt variable is an error that names the nearest") {
  CHECK(error_of_variable("GARRICK_SCHEDULER_WOKERS=2") ==
        "environment variable GARRICK_SCHEDULER_WOKERS: there is no variable "
        "'GARRICK_SCHEDULER_WOKERS'; did you mean "
        "'GARRICK_SCHEDULER_WORKERS'?");
  CHECK(error_of_variable("GARRICK_SCHEDULER_WORKERS=many") ==
        "environment variable GARRICK_SCHEDULER_WORKERS: the key 'scheduler.workers' wants a whole "
        "number from 0 to 1024, not "
        "'many'");
  CHECK(error_of_variable("GARRICK_SCHEDULER_WORKERS") ==
        "environment variable GARRICK_SCHEDULER_WORKERS: the key 'scheduler.workers' wants a whole "
        "number from 0 to 1024, not ''");
}

#if !defined(GARRICK_MINIMAL)

namespace {

/// A file that is gone at the end of the test.
class temporary_file {
 public:
  explicit temporary_file(const std::string& content) {
    static int number = 0;
    path_ =
        (std::filesystem::temp_directory_path() / ("garrick_config_" + std::to_string(::getpid()) +
                                                   "_" + std::to_string(number++) + ".json"))
            .string();
    std::ofstream(path_) << content;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Where the file's name would stand, there is "file".
std::string error_of_file(const std::string& content) {
  const temporary_file file(content);
  std::string text = error_of({.file = file.path()});
  if (text.starts_with(file.path())) text.replace(0, file.path().size(), "file");
  return text;
}

}  // namespace

TEST_CASE("each layer wins over the one before") {
  const temporary_file file(
      R"({"scheduler": {"workers": 1, "quantum": 100, "policy": "work_sharing"}, "mailbox": {"soft_limit": 300}})");
  const auto loaded =
      load_config({.file = file.path(),
                   .environment = {"GARRICK_SCHEDULER_WORKERS=2", "GARRICK_SCHEDULER_QUANTUM=200"},
                   .arguments = {"--scheduler.workers=3"}});
  REQUIRE(loaded);
  CHECK(loaded->system.workers == 3);
  CHECK(loaded->system.limits.quantum == 200);
  CHECK(loaded->system.policy == "work_sharing");
  CHECK(loaded->system.limits.soft_limit == 300);
}

TEST_CASE("the file is named by --config, else GARRICK_CONFIG, else the program") {
  const temporary_file a(R"({"scheduler": {"workers": 1}})");
  const temporary_file b(R"({"scheduler": {"workers": 2}})");
  const temporary_file c(R"({"scheduler": {"workers": 3}})");
  CHECK(load_config({.file = a.path()})->system.workers == 1);
  CHECK(load_config({.file = a.path(), .environment = {"GARRICK_CONFIG=" + b.path()}})
            ->system.workers == 2);
  CHECK(load_config({.file = a.path(),
                     .environment = {"GARRICK_CONFIG=" + b.path()},
                     .arguments = {"--config", c.path()}})
            ->system.workers == 3);
  CHECK(error_of({.file = "/no/such/file.json"}) ==
        "/no/such/file.json: the file cannot be opened: No such file or directory");
}

TEST_CASE("a file that is no configuration is refused before it costs memory") {
  CHECK(error_of({.file = "/dev/zero"}) == "/dev/zero: a configuration has at most 1048576 bytes");
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
      load_config({.file = file.path(),
                   .arguments = {"--mailbox.in_place", "false", "--mailbox.full_wait=2 ms"}});
  REQUIRE(loaded);
  CHECK(loaded->system.best_effort);
  CHECK(loaded->system.idle_spin_us == 1500);
  CHECK(loaded->system.limits.quantum == 0xffff'ffff);
  CHECK(loaded->system.watchdog_after == duration());
  CHECK(loaded->system.shutdown_deadline.is_infinite());
  CHECK(loaded->system.log == log_level::debug);
  CHECK_FALSE(loaded->system.limits.in_place);
  CHECK(loaded->system.limits.full_wait_ns == 2'000'000);
}

TEST_CASE("an error in the file names line, key and the nearest key") {
  CHECK(error_of_file("{\n  \"scheduler\": {\n    \"wokers\": 2\n  }\n}") ==
        "file:3: there is no key 'scheduler.wokers'; did you mean 'scheduler.workers'?");
  CHECK(error_of_file("{\n\"schedular\": {\"workers\": 2}}") ==
        "file:2: there is no section 'schedular'; did you mean 'scheduler'?");
  CHECK(error_of_file("{\"workers\": 2}") ==
        "file:1: there is no key 'workers'; did you mean 'scheduler.workers'?");
  CHECK(error_of_file("{\"mailbox\": {\n\n\"soft_limit\":\n\n\"ten\"\n}}") ==
        "file:3: the key 'mailbox.soft_limit' wants a whole number from 1 to 32000, not 'ten'");
}

TEST_CASE("a value of the wrong JSON type is refused, even if its text would do") {
  CHECK(error_of_file(R"({"scheduler": {"workers": "2"}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024, not '2'");
  CHECK(error_of_file(R"({"scheduler": {"workers": 2.5}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024, not '2.5'");
  CHECK(error_of_file(R"({"scheduler": {"workers": -1}})") ==
        "file:1: the key 'scheduler.workers' wants a whole number from 0 to 1024, not '-1'");
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
        "file:1: the key 'scheduler.best_effort' wants true or false, not '1'");
  CHECK(error_of_file(R"({"watchdog": {"after": 5}})") ==
        "file:1: the key 'watchdog.after' wants a time with a unit, such as \"50ms\", from 0s to "
        "infinite, not '5'");
  CHECK(error_of_file(R"({"log": {"level": "loud"}})") ==
        "file:1: the key 'log.level' wants one of debug, info, warning, error, off, not 'loud'");
  CHECK(error_of_file(R"({"log": {"level": "off",
    "level": "off"}})") == "file:2: the key 'log.level' is there twice");
}

TEST_CASE("what is not JSON, or not an object, is refused with its line") {
  CHECK(error_of_file("{\n\"scheduler\": {\n").starts_with("file:3: this is not JSON"));
  CHECK(error_of_file("").starts_with("file:1: this is not JSON"));
  CHECK(error_of_file("[1]") ==
        "file:1: a configuration is an object: { \"section\": { \"key\": value } }");
  CHECK(error_of_file("{\"log\": {\"level\": \"off\"}} tail")
            .starts_with("file:1: this is not JSON"));
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
        "1024, not '2000'");
  CHECK(error_of_argument("stray") ==
        "argument stray: unexpected: the program's own arguments come after --");
  CHECK(error_of_argument("--scheduler.workers").find("scheduler.workers") != std::string::npos);
  CHECK(error_of({.arguments = {"--scheduler.workers=1", "--scheduler.workers=2"}})
            .find("scheduler.workers") != std::string::npos);
}

TEST_CASE("settings that contradict each other are refused") {
  CHECK(error_of({.arguments = {"--mailbox.hard_limit=10"}}) ==
        "argument --mailbox.hard_limit: the key 'mailbox.hard_limit' must not be below "
        "'mailbox.soft_limit'");
}

TEST_CASE("what comes after -- is the program's") {
  const auto loaded =
      load_config({.arguments = {"--scheduler.workers=2", "--", "--verbose", "file.txt"}});
  REQUIRE(loaded);
  CHECK(loaded->rest == std::vector<std::string>{"--verbose", "file.txt"});
}

TEST_CASE("a program's own keys work in every layer and change only if all is valid") {
  int64_t clients = 10;
  std::string room = "hall";
  double rate = 1;
  bool loud = false;
  duration pause = duration::seconds(1);
  config_options own;
  own.add("chat.clients", clients, "clients to start", 1, 100);
  own.add("chat.room", room, "where they meet");
  own.add("chat.rate", rate, "messages a second");
  own.add("chat.loud", loud, "shout");
  own.add("chat.pause", pause, "between two messages");
  CHECK(error_of({.environment = {"GARRICK_CHAT_CLIENTS=20"},
                  .arguments = {"--chat.romm=attic"},
                  .own = &own}) ==
        "argument --chat.romm: there is no option '--chat.romm'; did you mean '--chat.room'?");
  CHECK(error_of({.environment = {"GARRICK_CHAT_CLIENTS=20"},
                  .arguments = {"--mailbox.hard_limit=1"},
                  .own = &own}) != "accepted");
  CHECK(clients == 10);
  const temporary_file file(R"({"chat": {"rate": 2.5, "pause": "10ms"}})");
  REQUIRE(load_config({.file = file.path(),
                       .environment = {"GARRICK_CHAT_CLIENTS=20"},
                       .arguments = {"--chat.room=attic", "--chat.loud=true"},
                       .own = &own}));
  CHECK(clients == 20);
  CHECK(room == "attic");
  CHECK(rate == 2.5);
  CHECK(loud);
  CHECK(pause == duration::milliseconds(10));
}

TEST_CASE("--help lists every key") {
  const auto loaded = load_config({.program = "chat", .arguments = {"--help"}});
  REQUIRE(loaded);
  for (const char* expected :
       {"--scheduler.workers", "--log.level", "--dump-config", "--config", "work_sharing", "chat"})
    CHECK(loaded->print.find(expected) != std::string::npos);
}

TEST_CASE("--dump-config writes a file that gives the same configuration") {
  std::string name = "a \"quoted\" name";
  config_options own;
  own.add("chat.name", name, "a name");
  const auto first = load_config({.arguments = {"--dump-config", "--scheduler.workers=7",
                                                "--log.level=error", "--watchdog.after=1500us"},
                                  .own = &own});
  REQUIRE(first);
  CHECK(first->print.find("\"workers\": 7") != std::string::npos);
  name = "changed";
  const temporary_file file(first->print);
  const auto second =
      load_config({.file = file.path(), .arguments = {"--dump-config"}, .own = &own});
  REQUIRE(second);
  CHECK(second->print == first->print);
  CHECK(second->system.workers == 7);
  CHECK(second->system.log == log_level::error);
  CHECK(second->system.watchdog_after == duration::microseconds(1500));
  CHECK(name == "a \"quoted\" name");
}

#else

TEST_CASE("the minimal build reads the environment only") {
  CHECK(error_of({.file = "x.json"}).starts_with("x.json: this build reads no files"));
  CHECK(error_of_argument("--scheduler.workers=2")
            .starts_with("argument --scheduler.workers=2: this build has no command line"));
  CHECK(load_config({.arguments = {"--", "mine"}})->rest == std::vector<std::string>{"mine"});
}

#endif
