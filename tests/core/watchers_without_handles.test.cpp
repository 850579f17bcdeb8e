// A watcher to which no handle exists at the moment, since it only sends to itself, is still told
// of the ends of others: it runs, or has mail, and takes a handle to itself again.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace watchers_without_handles_test {

namespace {

using namespace garrick;
using testkit::test_system;

using steps = protocol<void(int)>;
struct boom {};
using mortals = protocol<void(boom)>;
using strings = std::vector<std::string>;

/// Ends with its last handle, or with an error when it is told to.
struct mortal : actor<mortals> {
  void on(boom) { throw std::runtime_error("broken"); }
};

enum class how { monitors, calls_back, links };

/// Goes from step to step by messages to itself.
struct watcher : actor<steps> {
  watcher(how h, strings& heard) : how_(h), heard_(&heard) {}
  void on(int step) {
    heard_->push_back(std::to_string(step));
    if (step == 0) begin();
    if (step == 2) watched_ = {};  // the last handle
    if (step == 2 && how_ == how::links) send(other_, boom{});
    if (step != 5) send(self(), step + 1);
  }
  void on(const down&) { heard_->push_back("down"); }
  void on(const exit_signal&) { heard_->push_back("exit"); }

 private:
  void begin() {
    watched_ = spawn<mortal>();
    if (how_ == how::monitors) monitor(watched_);
    if (how_ == how::calls_back)
      monitor(watched_, [this](const down&) { heard_->push_back("call"); });
    if (how_ != how::links) return;
    trap_exit(true);
    other_ = spawn<mortal>();
    link(other_);
  }
  how how_;
  strings* heard_;
  ref<mortals> watched_, other_;
};

strings heard_by(how h) {
  strings heard;
  test_system kit(1);
  send(kit.spawn<watcher>(h, lent(heard)), 0);
  kit.run();
  return heard;
}

/// Says when it begins.
struct child : actor<mortals> {
  explicit child(strings& heard) { heard.push_back("born"); }
  void on(boom) { throw std::runtime_error("broken"); }
};

/// Like `watcher`. Its child fails while no handle to it exists.
struct parent : actor<steps> {
  explicit parent(strings& heard) : heard_(&heard) {}
  void on(int step) {
    if (step == 0) child_ = supervise<child>(lent(*heard_));
    if (step == 2) send(child_, boom{});
    if (step != 20) send(self(), step + 1);
  }

 private:
  strings* heard_;
  ref<mortals> child_;
};

}  // namespace

TEST_CASE("a watcher without a handle to it while it runs hears of an end") {
  const auto all = [](const char* word) { return strings{"0", "1", "2", "3", word, "4", "5"}; };
  CHECK(heard_by(how::monitors) == all("down"));
  CHECK(heard_by(how::calls_back) == all("call"));
}

TEST_CASE("an actor that traps exits hears of its partner's failure while no handle to it exists") {
  const strings heard = heard_by(how::links);
  CHECK(std::count(heard.begin(), heard.end(), "exit") == 1);
  CHECK(heard.back() == "5");
}

TEST_CASE("a supervisor without a handle to it while it runs restarts its child") {
  strings heard;
  test_system kit(1);
  send(kit.spawn<parent>(lent(heard)), 0);
  kit.run();
  CHECK(heard == strings{"born", "born"});
}

}  // namespace watchers_without_handles_test
