// Version 1 of the actor protocol: one file of bytes for each kind of frame; and a reader of
// version 1 that reads the bytes of this build.
#include <garrick/base/values/random.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/frame.hpp>
#include <garrick/net/wire/orders.hpp>
#include <garrick/net/wire/type_id.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "net/golden_files.hpp"
#include "net/version_1_values.hpp"

namespace golden_types {

struct letter {
  std::string text;
  std::int64_t number = 0;
};
/// The letter of a later build.
struct longer_letter {
  static constexpr std::string_view garrick_wire_name = "golden_types::letter";
  std::string text;
  std::int64_t number = 0;
  std::vector<std::string> copies;
};

}  // namespace golden_types

namespace golden_frames_test {

using namespace garrick;
using namespace garrick::net;

namespace {

using garrick_test::trouble;
using golden_types::letter;

constexpr actor_id receiver{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr actor_id sender{0x1716151413121110, 0x1f1e1d1c1b1a1918};

std::vector<std::byte> encoded(const frame& f) {
  packet p = packet::copy_of(f.payload, frame_room);
  prepend_header(f, p);
  return {p.bytes().begin(), p.bytes().end()};
}
frame basic(frame_kind kind, std::uint64_t number = 0) {
  frame f;
  f.kind = kind;
  f.receiver = receiver;
  f.sender = sender;
  f.number = number;
  return f;
}
bool is_id(const version_1::id& there, const actor_id& ours) {
  return version_1::reader(there.bytes).fixed(8) == ours.low &&
         version_1::reader(std::span(there.bytes).subspan(8)).fixed(8) == ours.high;
}
/// Checks that a reader of version 1 reads these bytes as this build does.
void version_1_reads(std::span<const std::byte> bytes) {
  const base::result<frame> ours = decode_frame(bytes);
  REQUIRE(ours.has_value());
  const version_1::frame there = version_1::read_frame(bytes);
  REQUIRE(there.kind == static_cast<int>(ours->kind));
  REQUIRE(is_id(there.receiver, ours->receiver));
  REQUIRE(is_id(there.sender, ours->sender));
  REQUIRE(there.number == ours->number);
  REQUIRE(there.type == ours->type);
  REQUIRE(there.urgent == ours->urgent);
  REQUIRE(there.deadline.has_value() == ours->time_left.has_value());
  if (there.deadline)
    REQUIRE(*there.deadline == static_cast<std::uint64_t>(ours->time_left->count()));
  REQUIRE(there.trace.size() == (ours->trace ? 25 : 0));
  if (ours->trace) {
    REQUIRE(std::memcmp(there.trace.data(), ours->trace->trace.data(), 16) == 0);
    REQUIRE(std::memcmp(there.trace.data() + 16, ours->trace->span.data(), 8) == 0);
    REQUIRE(there.trace[24] == std::byte{ours->trace->flags});
  }
  REQUIRE(std::ranges::equal(there.payload, ours->payload));
  REQUIRE(there.handles.size() == ours->handles);
  for (std::uint32_t i = 0; i != ours->handles; ++i)
    REQUIRE(is_id(there.handles[i], number_behind(*ours, i)));
}
/// `payload` is in the words of decode.py.
template <class T>
void is(const frame& header, std::string_view payload, const T& value,
        const std::string& suffix = {}, std::span<const std::byte> behind = {}) {
  const base::result<packet> p = encode(value);
  REQUIRE(p.has_value());
  std::vector<std::byte> whole(p->bytes().begin(), p->bytes().end());
  whole.insert(whole.end(), behind.begin(), behind.end());
  frame f = header;
  f.payload = whole;
  if (f.kind <= frame_kind::response) f.type = type_id<T>;
  const std::string name = "frames/" + std::string(to_text(f.kind)) + suffix;
  garrick_test::golden(name, "frame of " + std::string(payload), encoded(f));
  const std::vector<std::byte> bytes = garrick_test::golden_bytes(name);
  const base::result<frame> back = decode_frame(bytes);
  REQUIRE(back.has_value());
  CHECK(decode<T>(back->payload).has_value());
  frame again = *back;
  again.payload = {back->payload.data(), back->payload.size() + behind.size()};
  CHECK(encoded(again) == bytes);
}
void is(const frame& f, const std::string& suffix = {}) {
  const std::string name = "frames/" + std::string(to_text(f.kind)) + suffix;
  garrick_test::golden(name, "frame", encoded(f));
  const std::vector<std::byte> bytes = garrick_test::golden_bytes(name);
  const base::result<frame> back = decode_frame(bytes);
  REQUIRE(back.has_value());
  CHECK(encoded(*back) == bytes);
}
std::uint64_t seeds() {
  const char* text = std::getenv("GARRICK_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 200;
}

}  // namespace

TEST_CASE("messages, requests and their answers are written as version 1 does it") {
  using enum frame_kind;
  const letter some{"tea", -7};
  is(basic(message), "{string, i64}", some);
  is(basic(request, 1), "{string, i64}", some);
  is(basic(response, 300), "u32", std::uint32_t{5});
  is(basic(error, 300), "error", base::exit_reason(base::make_error(trouble::late, "after 5 s")));
  is(basic(cancel, ~std::uint64_t{0}));
  frame extended = basic(request, 2);
  extended.time_left = base::duration::milliseconds(1500);
  extended.trace.emplace();
  for (std::size_t i = 0; i != 16; ++i) extended.trace->trace[i] = static_cast<std::byte>(0xa0 + i);
  for (std::size_t i = 0; i != 8; ++i) extended.trace->span[i] = static_cast<std::byte>(0xb0 + i);
  extended.trace->flags = 1;
  is(extended, "{string, i64}", some, "_extended");
  frame urgent = basic(request, 2);
  urgent.urgent = true;
  is(urgent, "{string, i64}", some, "_urgent");
  frame with_handles = basic(message);
  with_handles.handles = 1;
  byte_writer behind;
  append_numbers(behind, std::array{sender});
  is(with_handles, "{u8, u8}", std::tuple(std::uint8_t{1}, std::uint8_t{0}), "_handles",
     std::move(behind).finish()->bytes());
  frame wrong = basic(decode_error);
  wrong.type = type_id<letter>;
  is(wrong, "error",
     base::exit_reason(base::make_error(trouble::broken, "golden_types::letter, field 1")));
}

TEST_CASE("signals are written as version 1 does it") {
  using enum frame_kind;
  is(basic(link));
  is(basic(unlink));
  is(basic(monitor, 7));
  is(basic(demonitor, 7));
  is(basic(down, 7), "error", base::exit_reason(base::make_error(trouble::broken, "bad luck")));
  is(basic(frame_kind::exit), "error", base::exit_reason());
  is(basic(frame_kind::kill), "kill_order", kill_order{trouble::broken, true});
}

TEST_CASE("the frames that nodes exchange are written as version 1 does it") {
  using enum frame_kind;
  is(basic(release, 3));
  is(basic(credit, 1000));
  frame bytes = basic(credit, 2);
  bytes.bytes = 70'000;
  is(bytes, "_bytes");
  is(basic(resolve, 8), "resolve_order", resolve_order{"tea", *schema_of<letter>()});
  frame theirs = basic(resolved, 8);
  theirs.receiver = {};
  is(theirs, "schema", *schema_of<letter>());
  frame at_home = basic(resolved, 8);
  at_home.sender = {};
  is(at_home, "schema", *schema_of<letter>(), "_home");
  is(basic(spawn, 9), "spawn_order",
     spawn_order{"shop::clerk", {std::byte{1}}, *schema_of<std::tuple<std::uint8_t>>()});
  is(basic(spawned, 9), "schema", *schema_of<letter>());
  is(basic(marker, 4));
  is(basic(marked, 4));
}

TEST_CASE("a reader of version 1 reads all golden frames, with their payloads") {
  int count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(garrick_test::golden_folder + "frames")) {
    const std::string name = "frames/" + file.path().stem().string();
    INFO(name);
    const std::vector<std::byte> bytes = garrick_test::golden_bytes(name);
    version_1_reads(bytes);
    const std::string type = garrick_test::golden_type(name);
    const version_1::frame f = version_1::read_frame(bytes);
    REQUIRE(type.starts_with("frame"));
    CHECK(f.payload.empty() == (type == "frame"));
    if (type != "frame") {
      version_1::reader in(f.payload);
      CHECK(!version_1::value(version_1::words(type.substr(9)).whole(), in).empty());
      CHECK(in.at_end());
    }
    ++count;
  }
  CHECK(count >= 25);  // one of each kind, another `resolved`, and three extended frames
}

TEST_CASE("a reader of version 1 understands every kind of frame that this build writes") {
  for (std::uint64_t seed = 0; seed != seeds(); ++seed) {
    INFO("seed " << seed);
    base::random_source random(seed);
    for (int kind = 1; kind != 22; ++kind) {
      frame f;
      f.kind = static_cast<frame_kind>(kind);
      f.receiver = {random(), random()};
      f.sender = {random(), random()};
      f.number = random() >> random.below(64);
      f.type = random();
      if (random.below(2) != 0) f.time_left = base::duration::nanoseconds(random.below(1u << 31));
      if (random.below(2) != 0) f.trace.emplace();
      f.urgent = random.below(2) != 0;
      byte_writer payload;
      if (f.kind <= frame_kind::response) {
        for (std::uint32_t n = random.below(40); n != 0; --n)
          payload.fixed(static_cast<std::uint8_t>(random.below(256)));
        std::vector<actor_id> handles(random.below(4));
        for (actor_id& h : handles) h = {random(), random()};
        append_numbers(payload, handles);
        f.handles = static_cast<std::uint32_t>(handles.size());
      }
      const base::result<packet> whole = std::move(payload).finish();
      REQUIRE(whole.has_value());
      f.payload = whole->bytes();
      version_1_reads(encoded(f));
    }
  }
}

TEST_CASE("a reader of version 1 understands a message that has grown since") {
  const base::result<packet> p =
      encode(golden_types::longer_letter{"tea", -7, {"mother", "father"}});
  REQUIRE(p.has_value());
  CHECK(type_id<golden_types::longer_letter> == type_id<letter>);
  version_1::reader whole(p->bytes());
  version_1::reader fields = whole.part();
  CHECK(fields.text() == "tea");
  CHECK(fields.zigzag() == -7);
  CHECK(!fields.at_end());  // and skips the rest
  CHECK(whole.at_end());
}

}  // namespace golden_frames_test
