// A peer's texts and names, as they are told here: not longer than need be, and without characters
// that a terminal would obey.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/printable.hpp>
#include <garrick/net/wire/known_codecs.hpp>
#include <garrick/net/wire/orders.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace foreign_texts_test {

using namespace garrick;
using kind = net::frame_kind;

/// Returns a long text that would clear the screen again and again.
std::string evil() {
  std::string text;
  while (text.size() < 1u << 17) text += "\x1b[2J\n";
  return text;
}

/// Checks that the text has no control character, and is not longer than a page and the category's
/// own words.
void is_harmless(const std::string& text) {
  CHECK(text.size() < net::most_printed + 300);
  CHECK(text.find("\\x1b[2J\\n") != std::string::npos);
  CHECK(std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }));
}

/// A category that is in no list, like one of another program.
struct evil_category final : base::error_category {
  explicit evil_category(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return evil(); }

 private:
  const std::string name_;
};

struct plain_category final : base::error_category {
  explicit plain_category(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t) const override { return "closed"; }

 private:
  const std::string name_;
};

struct ping {};
using target_type = protocol<void(ping)>;
class target : public actor<target_type> {
 public:
  void on(ping) {}
};

class watcher : public actor<protocol<void(down)>> {
 public:
  watcher(const ref<target_type>& whom, std::string& told) : told_(told) { monitor(whom); }
  void on(const down& d) { told_ = d.reason.as_error().to_string(); }

 private:
  std::string& told_;
};

TEST_CASE("foreign texts: the reason of a dead letter") {
  tests::three_machines m;
  tests::stranger s(m, m.a, "a");
  const evil_category short_name("\x1b[2J\n");
  const evil_category long_name(evil());
  for (const error& e : {make_error(errc::user, evil()), error(1, short_name),
                         error(2, short_name, evil(), evil()), error(3, long_name, evil(), evil())})
    s.say({.kind = kind::decode_error, .receiver = {5, 5}, .sender = {6, 1}, .type = 9}, e);
  REQUIRE(m.a.system.dead_letters().size() == 4);
  for (const auto& letter : m.a.system.dead_letters()) is_harmless(letter.reason.to_string());
}

TEST_CASE("foreign texts: the reason for which an actor was killed") {
  tests::three_machines m;
  const auto whom = m.a.system.spawn<target>();
  REQUIRE(m.a.node.publish("target", whom).has_value());
  std::string told;
  const auto by = m.a.system.spawn<watcher>(whom, lent(told));
  tests::stranger s(m, m.a, "a");
  const net::actor_id id = s.resolve<target_type>("target");
  REQUIRE(bool(id));
  s.say({.kind = kind::kill, .receiver = id},
        net::kill_order{exit_reason(make_error(errc::user, evil())), true});
  is_harmless(told);
}

TEST_CASE("foreign texts: a name that is asked for goes back as its beginning") {
  tests::three_machines m;
  tests::stranger s(m, m.a, "a");
  CHECK(!s.resolve<target_type>(evil()));
  s.say({.kind = kind::spawn, .number = 7}, net::spawn_order{evil(), {}, {}});
  std::vector<std::string> told;
  for (const auto& w : s.heard())
    if (w.kind == kind::error) told.emplace_back(w.why.detail());
  REQUIRE(told.size() == 2);
  CHECK(s.count(kind::error, registry_errc::not_found) == 1);
  CHECK(s.count(kind::error, net::net_errc::denied) == 1);
  for (const std::string& text : told) {
    is_harmless(text);
    CHECK(text.size() < net::longest_name + 100);
  }
}

/// Returns the name of the category in which an error of this one arrives, in a letter.
std::string arrived(tests::three_machines& m, tests::stranger& from, const std::string& category) {
  const plain_category theirs(category);
  from.say({.kind = kind::decode_error, .receiver = {5, 5}, .sender = {6, 1}, .type = 9},
           error(1, theirs));
  const auto letters = m.a.system.dead_letters();
  REQUIRE(!letters.empty());
  return std::string(letters.back().reason.category()->name());
}

TEST_CASE("foreign texts: a peer's names of categories leave room for those of others") {
  tests::three_machines m;
  {
    tests::stranger loud(m, m.a, "a", {{0, 77}, 7});
    for (int i = 0; i != 1200; ++i) {
      const std::string name = "loud " + std::to_string(i);
      const std::string there = arrived(m, loud, name);
      if (there != "foreign") CHECK(i < static_cast<int>(net::foreign_names::most));
    }
    tests::stranger shop(m, m.a, "a", {{0, 78}, 7});
    CHECK(arrived(m, shop, "shop") == "shop");
  }
  // The share of a node is that of all its lives, also when none of its links is left.
  m.a.system.run_for(duration::seconds(120));
  tests::stranger again(m, m.a, "a", {{0, 77}, 8});
  CHECK(arrived(m, again, "another name") == "foreign");
}

}  // namespace foreign_texts_test
