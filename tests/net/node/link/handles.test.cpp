// The handles in one frame: each counts at both ends exactly if the frame has carried it.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/decoding.hpp>
#include <garrick/net/node/link/internal/handles.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "net/node/link/counting_door.hpp"

namespace handles_test {

using namespace garrick;
using namespace garrick::net;
using internal::handle_kind;
using internal::handles;
using internal::remote_cell;

using reader_type = protocol<void(std::int32_t)>;
using teller_type = protocol<void(std::int64_t)>;
using reader_ref = ref<reader_type>;
using many = std::vector<reader_ref>;

class reader : public actor<reader_type> {
 public:
  void on(std::int32_t) {}
};

const protocol_table& as_reader = protocol_table_of<reader_type>();
const protocol_table& as_teller = protocol_table_of<teller_type>();

/// The codec of messages with several handles.
const content_codec& of_many() {
  return protocol_table_of<protocol<void(many)>>().all()[0].message;
}
static_assert(std::is_same_v<core::content_of<many>, many>);

/// Writes all handles, and throws.
void write_and_throw(byte_writer& out, const void* value) {
  encode_value(out, *static_cast<const many*>(value));
  throw std::runtime_error("an unlucky one");
}
void write_and_throw_number(byte_writer& out, const void* value) {
  encode_value(out, *static_cast<const many*>(value));
  throw 7;
}

/// One end of a link.
struct end_of_link {
  std::shared_ptr<link_test::counting_door> door = std::make_shared<link_test::counting_door>();
  const connection self{door};
  internal::answering_cell* const senders;
  internal::exports given;
  internal::proxies known;
  handles of;

  end_of_link(core::environment& env, std::uint64_t seed, std::size_t most)
      : senders(new internal::answering_cell(env, self, {}, {})),
        given(seed),
        known(self, *senders, internal::peer_hash(seed), base::duration()),
        of(given, known, most) {}
  end_of_link(const end_of_link&) = delete;
  end_of_link& operator=(const end_of_link&) = delete;
  ~end_of_link() {
    known.clear();
    senders->drop_strong();
  }
  [[nodiscard]] std::uint64_t sent(const actor_id& id) {
    const internal::exports::entry* const x = given.find(id);
    return x != nullptr ? x->sent : 0;
  }
  /// Returns the numbers that `next_unread` tells.
  [[nodiscard]] std::vector<actor_id> unread() {
    std::vector<actor_id> all;
    while (const std::optional<actor_id> id = of.next_unread()) all.push_back(*id);
    return all;
  }
};

/// A frame, and the bytes in which its payload lies.
struct letter {
  packet bytes;
  frame what{};

  letter(frame f, packet payload) : bytes(std::move(payload)) {
    f.kind = frame_kind::message;
    f.receiver = {1, 2};
    f.type = 5;
    prepend_header(f, bytes);
    what = decode_frame(bytes.bytes()).value();
  }
};

struct fixture {
  garrick::testkit::test_system system;
  reader_ref one = system.spawn<reader>();
  reader_ref two = system.spawn<reader>();
  end_of_link here{system.env(), 1, 2};
  end_of_link there{system.env(), 2, 2};

  static base::result<packet> try_encode(end_of_link& from, const many& all, frame& f,
                                         std::size_t largest = writer_settings().largest) {
    return from.of.encode(of_many(), &all, f, frame_room, largest);
  }
  /// Returns a frame with these handles.
  static letter encode(end_of_link& from, const many& all) {
    frame f;
    base::result<packet> p = try_encode(from, all, f);
    REQUIRE(p.has_value());
    return {f, std::move(*p)};
  }
  /// Returns the handles in a payload.
  static base::result<many> decode(end_of_link& at, const frame& f) {
    const base::result<core::envelope*> made =
        internal::read_payload(of_many(), f.payload, static_cast<handle_porter&>(at.of));
    if (!made) return made.error();
    const core::envelope_ptr e(*made);
    return *static_cast<const many*>(core::content_pointer(e.get()));
  }
  [[nodiscard]] actor_id number_of(const reader_ref& who) const {
    return here.given.number_of(who.address()).value_or(actor_id{});
  }
};

/// Returns a frame with these numbers, and with a payload of `n` handles as `write` writes them.
template <class F>
letter made_up(std::vector<actor_id> numbers, std::uint8_t n, F write) {
  byte_writer out({.front = frame_room});
  out.varint(n);
  write(out);
  append_numbers(out, numbers);
  return {{.handles = static_cast<std::uint32_t>(numbers.size())}, std::move(out).finish().value()};
}
/// Writes a handle of the writing end.
void write_place(byte_writer& out, std::uint64_t place) {
  out.fixed(static_cast<std::uint8_t>(handle_kind::senders));
  out.varint(place);
}

constexpr actor_id first{11, 7};
constexpr actor_id second{12, 7};
constexpr actor_id third{13, 7};

TEST_CASE("handles: each handle counts once at both ends, and equal ones are one actor") {
  fixture f;
  const letter l = f.encode(f.here, {f.one, f.two, {}, f.one});
  CHECK(l.what.handles == 3);
  CHECK_FALSE(f.here.of.brings_home());
  CHECK(f.here.given.size() == 2);
  CHECK(f.here.sent(f.number_of(f.one)) == 2);
  CHECK(f.here.sent(f.number_of(f.two)) == 1);
  f.there.of.expect(l.what);
  many all = f.decode(f.there, l.what).value();
  REQUIRE(all.size() == 4);
  CHECK(all[0] == all[3]);
  CHECK(all[0] != all[1]);
  CHECK_FALSE(all[2]);
  CHECK(f.there.known.size() == 2);
  remote_cell* const proxy = f.there.known.find(f.number_of(f.one));
  REQUIRE(proxy != nullptr);
  CHECK(proxy == core::handle_access::get(all[0]));
  CHECK(proxy->received == 2);
  CHECK(f.there.known.find(f.number_of(f.two))->received == 1);
  CHECK(proxy->by_content(&base::message_type_of<std::int32_t>) != nullptr);
  CHECK(f.there.unread().empty());  // X2
  all.clear();
  CHECK_FALSE(proxy->lock());  // its handles alone have held it
}

TEST_CASE("handles: a frame without handles costs no number") {
  fixture f;
  const letter l = f.encode(f.here, {{}, {}});
  CHECK(l.what.handles == 0);
  CHECK(f.here.given.size() == 0);
  f.there.of.expect_none();
  CHECK(f.decode(f.there, l.what).value().size() == 2);
  CHECK(f.there.unread().empty());
}

TEST_CASE("handles: a value that cannot be encoded takes its handles back") {
  fixture f;
  frame out;
  const auto refused = [&](auto write) {
    content_codec how = of_many();
    how.write = write;
    const many all{f.one, f.two, f.one};
    const base::result<packet> p = f.here.of.encode(how, &all, out, frame_room);
    REQUIRE_FALSE(p.has_value());
    return p.error();
  };
  const letter before = f.encode(f.here, {f.one});
  SUBCASE("since its codec throws") {
    const base::error no = refused(&write_and_throw);
    CHECK(no == net_errc::not_encodable);
    CHECK(no.to_string().find("an unlucky one") != std::string::npos);
  }
  SUBCASE("since its codec throws no exception") {
    CHECK(refused(&write_and_throw_number) == net_errc::not_encodable);
  }
  SUBCASE("since its numbers make it too large") {
    const base::result<packet> p = f.try_encode(f.here, {f.one, f.two, f.one}, out, 30);
    REQUIRE_FALSE(p.has_value());
    CHECK(p.error() == net_errc::too_large);
  }
  CHECK(f.here.given.size() == 1);  // X1
  CHECK(f.here.sent(f.number_of(f.one)) == 1);
  const letter after = f.encode(f.here, {f.two});
  CHECK(after.what.handles == 1);
  CHECK(f.here.sent(f.number_of(f.one)) == 1);
  CHECK(f.here.sent(f.number_of(f.two)) == 1);
}

TEST_CASE("handles: above the limit of known actors no frame is made, and none is known") {
  fixture f;
  const reader_ref three = f.system.spawn<reader>();
  frame out;
  const base::result<packet> p = f.try_encode(f.here, {f.one, f.two, three}, out);
  REQUIRE_FALSE(p.has_value());
  CHECK(p.error() == net_errc::overload);
  CHECK(f.here.given.size() == 0);
  CHECK(f.encode(f.here, {f.one, f.two}).what.handles == 2);
  CHECK_FALSE(f.try_encode(f.here, {three}, out).has_value());
  CHECK(f.here.given.size() == 2);
  CHECK(f.encode(f.here, {f.two}).what.handles == 1);  // the peer knows of it already
  CHECK(f.here.sent(f.number_of(f.two)) == 2);
  REQUIRE(f.here.given.release(f.number_of(f.one), 1));
  CHECK(f.encode(f.here, {three}).what.handles == 1);
}

TEST_CASE("handles: a handle that comes home is the actor itself, and counts nowhere") {
  fixture f;
  const letter there = f.encode(f.here, {f.one});
  f.there.of.expect(there.what);
  const many proxy = f.decode(f.there, there.what).value();
  const letter back = f.encode(f.there, {proxy[0], f.two});
  CHECK(f.there.of.brings_home());
  CHECK(back.what.handles == 1);  // of the other actor, which is not the peer's
  CHECK(f.there.given.size() == 1);
  const actor_id id = f.number_of(f.one);
  SUBCASE("while the peer has a handle to it") {
    f.here.of.expect(back.what);
    const many all = f.decode(f.here, back.what).value();
    CHECK(all[0] == f.one);
    CHECK(all[1] != f.two);
    CHECK(f.here.sent(id) == 1);
    CHECK(f.here.known.size() == 1);
    CHECK(f.here.unread().empty());
    CHECK_FALSE(f.encode(f.there, {f.two}).what.handles == 0);
    CHECK_FALSE(f.there.of.brings_home());  // it says so of the last frame alone
  }
  SUBCASE("but not after the peer has released it") {
    REQUIRE(f.here.given.release(id, 1));
    f.here.of.expect(back.what);
    CHECK_FALSE(f.decode(f.here, back.what).has_value());
    CHECK(f.here.unread().size() == 1);
  }
  SUBCASE("but not if the peer was only told of it") {
    CHECK(f.here.given.name(f.one.address()) == id);
    REQUIRE(f.here.given.release(id, 1));
    f.here.of.expect(back.what);
    CHECK_FALSE(f.decode(f.here, back.what).has_value());
  }
}

TEST_CASE("handles: an actor that has come home is held by its handle") {
  fixture f;
  const letter there = f.encode(f.here, {f.one});
  const actor_id id = f.number_of(f.one);
  f.there.of.expect(there.what);
  const letter back = f.encode(f.there, f.decode(f.there, there.what).value());
  f.here.of.expect_none();
  const many all = f.decode(f.here, back.what).value();
  f.one = {};
  REQUIRE(f.here.given.release(id, 1));
  f.system.run();
  CHECK_NOTHROW(f.system.expect_alive(all[0]));
}

TEST_CASE("handles: the actor of a third node is given on as an actor of this one") {
  fixture f;
  end_of_link other(f.system.env(), 3, 2);
  const letter l = f.encode(other, {f.one});
  f.here.of.expect(l.what);  // as if `other` were the peer of `here`
  const many proxy = f.decode(f.here, l.what).value();
  const letter on = f.encode(f.there, proxy);
  CHECK_FALSE(f.there.of.brings_home());
  CHECK(on.what.handles == 1);
  CHECK(f.there.given.number_of(proxy[0].address()).has_value());
}

TEST_CASE("handles: numbers that no reader takes are returned, each once") {
  fixture f;
  const letter l =
      made_up({first, second, third}, 1, [](byte_writer& out) { write_place(out, 1); });
  f.there.of.expect(l.what);
  SUBCASE("without those that were read") {
    const many all = f.decode(f.there, l.what).value();
    CHECK(f.there.known.find(second)->received == 1);
    CHECK(f.there.unread() == std::vector<actor_id>{first, third});
    CHECK(f.there.known.size() == 1);
  }
  SUBCASE("all of them if nothing was read") {
    CHECK(f.there.unread() == std::vector<actor_id>{first, second, third});
    CHECK(f.there.known.size() == 0);
  }
  SUBCASE("none of a frame before this one") {
    const letter next = made_up({third}, 0, [](byte_writer&) {});
    f.there.of.expect(next.what);
    CHECK(f.there.unread() == std::vector<actor_id>{third});
  }
  SUBCASE("none if the next frame has none") {
    f.there.of.expect_none();
    CHECK_FALSE(f.decode(f.there, l.what).has_value());
    CHECK(f.there.known.size() == 0);
  }
  CHECK(f.there.unread().empty());
  CHECK_FALSE(f.decode(f.there, l.what).has_value());  // nor is any read any more
  const letter last = made_up({second}, 0, [](byte_writer&) {});
  f.there.of.expect(last.what);
  CHECK(f.there.unread() == std::vector<actor_id>{second});
}

TEST_CASE("handles: a number is read once, however often its payload names it") {
  fixture f;
  const letter l = made_up({first, second}, 2, [](byte_writer& out) {
    write_place(out, 0);
    write_place(out, 0);
  });
  f.there.of.expect(l.what);
  const base::result<many> all = f.decode(f.there, l.what);
  REQUIRE_FALSE(all.has_value());
  CHECK(all.error() == net_errc::decode_failed);
  const remote_cell* const proxy = f.there.known.find(first);
  REQUIRE(proxy != nullptr);
  CHECK(proxy->received == 1);  // X2: it was read, though its message is lost
  CHECK(f.there.unread() == std::vector<actor_id>{second});
}

TEST_CASE("handles: a handle that makes no sense fails its message") {
  fixture f;
  const auto fails = [&](std::vector<actor_id> numbers, auto write) {
    const letter l = made_up(numbers, 1, write);
    f.there.of.expect(l.what);
    const base::result<many> all = f.decode(f.there, l.what);
    CHECK_FALSE(all.has_value());
    CHECK(f.there.known.size() == 0);
    CHECK(f.there.unread() == numbers);
  };
  SUBCASE("behind the numbers") {
    fails({first}, [](byte_writer& out) { write_place(out, 1); });
  }
  SUBCASE("far behind the numbers") {
    fails({first}, [](byte_writer& out) { write_place(out, std::uint64_t{1} << 32); });
  }
  SUBCASE("without an actor") {
    fails({actor_id{}}, [](byte_writer& out) { write_place(out, 0); });
  }
  SUBCASE("of a kind that does not exist") {
    const actor_id id = f.there.given.hold(*core::handle_access::get(f.two), as_reader);
    fails({first}, [id](byte_writer& out) {
      out.fixed(std::uint8_t{3});
      out.fixed(id.low);
      out.fixed(id.high);
    });
  }
  SUBCASE("that was never given away") {
    fails({first}, [](byte_writer& out) {
      out.fixed(static_cast<std::uint8_t>(handle_kind::receivers));
      out.fixed(first.low);
      out.fixed(first.high);
    });
  }
  SUBCASE("with a number that ends too early") {
    fails({first}, [](byte_writer& out) {
      out.fixed(static_cast<std::uint8_t>(handle_kind::receivers));
      out.fixed(first.low);
    });
  }
  SUBCASE("with a place that ends too early") {
    fails({first},
          [](byte_writer& out) { out.fixed(static_cast<std::uint8_t>(handle_kind::senders)); });
  }
}

TEST_CASE("handles: a proxy knows each protocol with which it was read") {
  fixture f;
  const letter l = made_up({first, first}, 2, [](byte_writer& out) {
    write_place(out, 0);
    write_place(out, 1);
  });
  f.there.of.expect(l.what);
  byte_reader in(l.what.payload);
  CHECK(in.varint() == 2);
  auto& porter = static_cast<handle_porter&>(f.there.of);
  const auto one = core::handle_access::adopt<reader_type>(porter.read(in, as_reader));
  const remote_cell* const proxy = f.there.known.find(first);
  REQUIRE(proxy != nullptr);
  CHECK(proxy->by_content(&base::message_type_of<std::int32_t>) != nullptr);
  CHECK(proxy->by_content(&base::message_type_of<std::int64_t>) == nullptr);
  const auto same = core::handle_access::adopt<teller_type>(porter.read(in, as_teller));
  CHECK(core::handle_access::get(one) == core::handle_access::get(same));
  CHECK(proxy->by_content(&base::message_type_of<std::int64_t>) != nullptr);
  CHECK(proxy->received == 2);
}

}  // namespace handles_test
