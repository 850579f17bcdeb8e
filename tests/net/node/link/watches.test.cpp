// The monitors and links across a link: each leaves its table once, with its name.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/link/internal/watches.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace watches_test {

using namespace garrick;
using namespace garrick::net;
using internal::watches;

class nobody : public actor<protocol<void(int)>> {
 public:
  void on(int) {}
};

struct fixture final : watches::names {
  garrick::testkit::test_system system;
  ref<protocol<void(int)>> one = system.spawn<nobody>();
  ref<protocol<void(int)>> two = system.spawn<nobody>();
  core::address here = one.address();
  core::address there = two.address();  // in the place of a proxy
  std::map<std::uint64_t, int> named;   // by identity, how often
  watches of{*this, internal::peer_hash(1), 3};

  actor_id name(const core::address& who) override {
    ++named[who.id()];
    return {who.id(), 9};
  }
  void forget(const actor_id& id) noexcept override { --named[id.low]; }
  [[nodiscard]] actor_id id_of(const core::address& who) const { return {who.id(), 9}; }
  [[nodiscard]] int names() {
    int n = 0;
    for (const auto& [id, times] : named) n += times;
    return n;
  }
};

const actor_id peers{77, 7};

TEST_CASE("watches: a monitor of this end is answered, or taken back, once") {
  fixture f;
  CHECK(f.of.watch(1, f.here, 10, f.there, peers) == f.id_of(f.here));
  CHECK(f.of.watch(2, f.here, 11, f.there, peers) == f.id_of(f.here));
  CHECK(f.names() == 2);
  CHECK(f.of.count_monitors() == 2);
  CHECK_FALSE(f.of.answered(1, peers));  // it was told to another watcher
  CHECK_FALSE(f.of.answered(3, f.id_of(f.here)));
  const std::optional<watches::monitor> ended = f.of.answered(1, f.id_of(f.here));
  REQUIRE(ended);
  CHECK(ended->number == 10);
  CHECK(ended->target == f.there);
  CHECK_FALSE(f.of.answered(1, f.id_of(f.here)));
  CHECK_FALSE(f.of.unwatch(f.here, 10));  // M3
  const std::optional<watches::told> back = f.of.unwatch(f.here, 11);
  REQUIRE(back);
  CHECK(back->number == 2);
  CHECK_FALSE(f.of.unwatch(f.here, 11));
  CHECK_FALSE(f.of.answered(2, f.id_of(f.here)));
  CHECK(f.names() == 0);
  CHECK(f.of.count_monitors() == 0);
}

TEST_CASE("watches: a monitor of the peer goes with its target, or when it is taken back") {
  fixture f;
  const watches::monitor one{f.there, f.here, 5, peers, f.id_of(f.here)};
  CHECK(f.of.watched_by(one));
  CHECK_FALSE(f.of.watched_by(one));  // a lie
  CHECK(f.names() == 1);
  CHECK_FALSE(f.of.target_ended(peers, 5, f.there));  // another actor
  CHECK_FALSE(f.of.target_ended(peers, 6, f.here));
  CHECK(f.of.target_ended(peers, 5, f.here) == f.id_of(f.here));
  CHECK_FALSE(f.of.target_ended(peers, 5, f.here));
  CHECK(f.names() == 0);
  CHECK(f.of.watched_by(one));
  CHECK_FALSE(f.of.unwatched_by(peers, 5, peers));  // another target
  REQUIRE(f.of.unwatched_by(peers, 5, f.id_of(f.here)));
  CHECK_FALSE(f.of.unwatched_by(peers, 5, f.id_of(f.here)));
  CHECK(f.names() == 0);
}

TEST_CASE("watches: a link is one entry, whichever end has set it") {
  fixture f;
  CHECK_FALSE(f.of.link_again(peers, f.here));
  CHECK(f.of.link(f.here, f.there, peers) == f.id_of(f.here));
  CHECK(f.of.link_again(peers, f.here));
  const auto [same, is_new] = f.of.linked_by(peers, {f.here, f.here, f.id_of(f.here)});
  CHECK_FALSE(is_new);
  CHECK(same.there == f.there);  // as it was first
  CHECK(f.of.count_links() == 1);
  CHECK(f.names() == 1);
  REQUIRE(f.of.unlink(peers, f.here));
  CHECK_FALSE(f.of.unlink(peers, f.here));
  CHECK(f.names() == 0);
  CHECK(f.of.linked_by(peers, {f.here, f.there, f.id_of(f.here)}).second);
  CHECK(f.names() == 1);
}

TEST_CASE("watches: links count against both ends, monitors against the end that has set them") {
  fixture f;
  static_cast<void>(f.of.link(f.here, f.there, peers));
  static_cast<void>(f.of.watch(1, f.here, 10, f.there, peers));
  CHECK_FALSE(f.of.is_full());
  static_cast<void>(f.of.watch(2, f.here, 11, f.there, peers));
  CHECK(f.of.is_full());
  CHECK_FALSE(f.of.is_full_of_peers());
  CHECK(f.of.watched_by({f.there, f.here, 5, peers, f.id_of(f.here)}));
  CHECK_FALSE(f.of.is_full_of_peers());
  CHECK(f.of.watched_by({f.there, f.here, 6, peers, f.id_of(f.here)}));
  CHECK(f.of.is_full_of_peers());
}

TEST_CASE("watches: at the end each is returned once, and none can be answered any more") {
  fixture f;
  static_cast<void>(f.of.link(f.here, f.there, peers));
  static_cast<void>(f.of.watch(1, f.here, 10, f.there, peers));
  CHECK(f.of.watched_by({f.there, f.here, 5, peers, f.id_of(f.here)}));
  CHECK(f.of.end_links().size() == 1);
  CHECK(f.of.end_watching().size() == 1);
  CHECK(f.of.end_watched().size() == 1);
  CHECK(f.of.end_links().empty());
  CHECK_FALSE(f.of.unwatch(f.here, 10));
  CHECK_FALSE(f.of.answered(1, f.id_of(f.here)));
  CHECK_FALSE(f.of.unlink(peers, f.here));
}

}  // namespace watches_test
