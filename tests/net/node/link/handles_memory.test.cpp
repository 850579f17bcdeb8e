// Handles of a frame while there is no memory: none counts as sent that was not, and none is held
// for ever. Each allocation fails in its turn.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/decoding.hpp>
#include <garrick/net/node/link/internal/handles.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "net/node/link/counting_door.hpp"
#include "support/failing_memory.hpp"

namespace handles_memory_test {

using namespace garrick;
using namespace garrick::net;
using internal::handles;
using internal::remote_cell;

using reader_type = protocol<void(std::int32_t)>;
using many = std::vector<ref<reader_type>>;

class reader : public actor<reader_type> {
 public:
  void on(std::int32_t) {}
};

const content_codec& of_many() {
  return protocol_table_of<protocol<void(many)>>().all()[0].message;
}

/// One end of a link.
struct end_of_link {
  garrick::testkit::test_system system;
  std::shared_ptr<link_test::counting_door> door = std::make_shared<link_test::counting_door>();
  const connection self{door};
  internal::answering_cell* const senders =
      new internal::answering_cell(system.env(), self, {}, {});
  const long before = door.use_count();
  internal::exports given{1};
  internal::proxies known{self, *senders, internal::peer_hash(1), base::duration()};
  handles of{given, known, 100};

  end_of_link() = default;
  end_of_link(const end_of_link&) = delete;
  end_of_link& operator=(const end_of_link&) = delete;
  ~end_of_link() {
    known.clear();
    CHECK(door.use_count() == before);  // no proxy is left
    senders->drop_strong();
  }
};

/// Calls `f(end, count)` on a new end for each `count`, where this allocation fails, until none
/// does.
template <class F>
void with_each_failing(F f) {
  int last = 0;
  for (int count = 1; last == 0; ++count) {
    CAPTURE(count);
    end_of_link end;
    if (!f(end, count)) last = count;
  }
  CHECK(last > 3);  // so some have failed
}
/// Calls `f()`, of which this allocation fails. Returns false if there was none.
template <class F>
bool failing(int count, F f) {
  tests::failing_allocation = count;
  f();
  return std::exchange(tests::failing_allocation, 0) == 0;
}

TEST_CASE("handles memory: a frame for which there is none has sent no handle") {
  static_cast<void>(of_many());
  with_each_failing([](end_of_link& end, int count) {
    many all;
    for (int i = 0; i < 5; ++i) all.push_back(end.system.spawn<reader>());
    all.push_back(all[0]);
    frame f;
    bool is_sent = false;
    const bool has_failed = failing(count, [&] {
      try {
        is_sent = end.of.encode(of_many(), &all, f, frame_room).has_value();
      } catch (const std::bad_alloc&) {  // which ends the link
      }
    });
    CHECK(is_sent == !has_failed);
    CHECK(end.given.size() == (is_sent ? 5 : 0));  // X1
    return has_failed;
  });
}

constexpr actor_id numbers[] = {{1, 9}, {2, 9}, {3, 9}};

TEST_CASE("handles memory: a handle that cannot be read holds none, and is released") {
  static_cast<void>(of_many());
  with_each_failing([](end_of_link& end, int count) {
    byte_writer out({.front = frame_room});
    out.varint(std::size(numbers));
    for (std::uint64_t i = 0; i != std::size(numbers); ++i) {
      out.fixed(static_cast<std::uint8_t>(internal::handle_kind::senders));
      out.varint(i);
    }
    append_numbers(out, numbers);
    packet p = std::move(out).finish().value();
    prepend_header({.receiver = {1, 2}, .type = 5, .handles = std::size(numbers)}, p);
    const frame f = decode_frame(p.bytes()).value();
    end.of.expect(f);
    const bool has_failed = failing(count, [&] {
      const base::result<core::envelope*> made =
          internal::read_payload(of_many(), f.payload, static_cast<handle_porter&>(end.of));
      if (made) core::envelope_ptr(*made).reset();
    });
    std::vector<actor_id> unread;
    while (const std::optional<actor_id> id = end.of.next_unread()) unread.push_back(*id);
    std::uint64_t received = 0;
    for (const actor_id& id : numbers)
      if (remote_cell* const proxy = end.known.find(id); proxy != nullptr) {
        CHECK_FALSE(proxy->lock());
        received += proxy->received;
      }
    CHECK(received + unread.size() == std::size(numbers));  // X2
    return has_failed;
  });
}

}  // namespace handles_memory_test
