// The descriptor of a message type: its identity, and the functions that it holds.
#include "garrick/base/types/message_type.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

using garrick::base::message_type;
using garrick::base::message_type_of;

namespace bank {
struct deposit {
  long cents;
};
struct note {
  std::string text;
};
struct parcel {
  std::unique_ptr<int> content;
};
}  // namespace bank

static_assert(message_type_of<bank::deposit>.size == sizeof(long));
static_assert(message_type_of<bank::deposit>.trivially_copyable &&
              message_type_of<bank::deposit>.destroy == nullptr);
TEST_CASE("a type's identity is its descriptor's address") {
  CHECK(&message_type_of<bank::deposit> == &message_type_of<const bank::deposit&>);
  CHECK(&message_type_of<int> != &message_type_of<unsigned>);
  CHECK(&message_type_of<bank::deposit> != &message_type_of<bank::note>);
}

TEST_CASE("a descriptor names, moves, copies, prints and destroys") {
  const message_type& type = message_type_of<bank::note>;
  CHECK(type.name == "bank::note");
  CHECK(type.align == alignof(bank::note));
  CHECK_FALSE(type.trivially_copyable);
  bank::note original{"a text that is too long for the small buffer"};
  alignas(bank::note) unsigned char copied[sizeof(bank::note)];
  alignas(bank::note) unsigned char moved[sizeof(bank::note)];
  type.copy_construct(copied, &original);
  type.move_construct(moved, copied);
  std::string out;
  type.print(moved, out);
  CHECK(out == "bank::note{\"a text that is too long for the small buffer\"}");
  type.destroy(copied);
  type.destroy(moved);
  CHECK(original.text.size() == 44);
}

TEST_CASE("a type that cannot be copied has no copy function") {
  const bool can_copy = message_type_of<bank::parcel>.copy_construct != nullptr;
  CHECK_FALSE(can_copy);

  bank::parcel p{std::make_unique<int>(5)};
  alignas(bank::parcel) unsigned char moved[sizeof(bank::parcel)];
  message_type_of<bank::parcel>.move_construct(moved, &p);
  CHECK(p.content == nullptr);
  std::string out;
  message_type_of<bank::parcel>.print(moved, out);
  CHECK(out == "bank::parcel{5}");
  message_type_of<bank::parcel>.destroy(moved);
}
