#include <garrick/net/node/protocol_table.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <string>

namespace protocol_table_test {

using namespace garrick;
using namespace garrick::net;

struct deposit {
  std::string who;
  std::int64_t cents = 0;
};
struct balance {};

using account =
    core::protocol<void(deposit), core::result<std::int64_t>(balance), int(int, std::string)>;

TEST_CASE("a protocol's messages are found by their numbers and by their contents") {
  const protocol_table& t = protocol_table_of<account>();
  const signature_codec* const s = t.by_type(type_id<deposit>);
  REQUIRE(s != nullptr);
  CHECK(s == t.by_content(&base::message_type_of<deposit>));
  CHECK(s->answer.content == &base::message_type_of<core::unit>);
  const signature_codec* const p =
      t.by_content(&base::message_type_of<core::pack<int, std::string>>);
  REQUIRE(p != nullptr);
  CHECK(p->answer.content == &base::message_type_of<int>);
  CHECK(t.by_type(1) == nullptr);
  CHECK(t.by_content(&base::message_type_of<char>) == nullptr);
  REQUIRE(t.described().has_value());
  CHECK(t.described()->signatures.size() == 3);
}

TEST_CASE("a message goes from an envelope into bytes and back") {
  const signature_codec* const s = protocol_table_of<account>().by_type(type_id<deposit>);
  byte_writer out({.front = 8});
  const deposit sent{"ada", 500};
  s->message.write(out, &sent);
  const auto bytes = std::move(out).finish();
  REQUIRE(bytes.has_value());
  byte_reader in(bytes->bytes());
  const core::envelope_ptr e(s->message.read(in));
  REQUIRE(e != nullptr);
  CHECK(e->type == &base::message_type_of<deposit>);
  CHECK(static_cast<const deposit*>(core::content_pointer(e.get()))->who == "ada");
  byte_reader cut(bytes->bytes().first(3));
  CHECK(s->message.read(cut) == nullptr);
  CHECK(cut.failed());
}

}  // namespace protocol_table_test
