// Held lanes whose workers are those of a test system, and whose budget is the test's: each test
// decides when a worker begins, and when the time passes.
#pragma once

#include <doctest/doctest.h>
#include <garrick/core/seam/environment.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link/internal/held_lanes.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "net/node/link/counting_door.hpp"

namespace held_lanes_test {

using namespace garrick;
using namespace garrick::net;
using internal::decoding;
using internal::growing_bytes;
using internal::held_lanes;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }
constexpr std::size_t small = 100;
constexpr std::size_t large = (std::size_t{256} << 10) + 1;  // the smallest that a worker decodes

/// The first byte of a payload decides the fate of its decoding.
enum class fate : std::uint8_t { good, refused, has_handle };

inline int decoded = 0;                       // payloads, by workers
inline std::function<void()> while_decoding;  // if not empty

inline core::envelope* read_content(byte_reader& in) {
  ++decoded;
  if (while_decoding) while_decoding();
  const auto what = static_cast<fate>(in.fixed<std::uint8_t>());
  if (what == fate::refused) return in.fail("a refused one"), nullptr;
  if (what == fate::has_handle)
    static_cast<void>(in.context().as<handle_porter>()->read(
        in, protocol_table_of<core::any_protocol>()));  // of the kind in the next byte
  return core::detail::make_envelope<int>(1);
}
inline const content_codec first_type{1, &base::message_type_of<int>, nullptr, &read_content};
inline const content_codec second_type{2, &base::message_type_of<char>, nullptr, &read_content};

/// The workers of a system, which wait if the test says so.
class workers final : public base::executor {
 public:
  explicit workers(core::environment& env) : env_(env), of_(*env.workers) { env.workers = this; }
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;
  ~workers() { env_.workers = &of_; }
  bool wait = false;

  void schedule(base::runnable& r) noexcept override { of_.schedule(r); }
  bool claim(base::runnable& r) noexcept override { return of_.claim(r); }
  void expose() noexcept override { of_.expose(); }
  [[nodiscard]] bool all_wait() const noexcept override { return wait; }

 private:
  core::environment& env_;
  base::executor& of_;
};

/// Has a time, and no links.
class source final : public link_source {
 public:
  base::instant time = base::instant::at(ms(1000));

  base::result<connection> connect(const endpoint&, std::unique_ptr<hosted_maker>) override {
    return base::errc::not_handled;
  }
  base::result<listener> listen(const endpoint&, std::shared_ptr<accept_policy>) override {
    return base::errc::not_handled;
  }
  base::instant now() const noexcept override { return time; }
  void wait_for_end(const std::vector<connection>&, base::duration) override {}
  void stop() noexcept override {}
};

/// A frame that was read.
struct reading {
  std::uint64_t number = 0;
  bool by_worker = false;
  bool is_late = false;
  bool is_whole = false;  ///< no worker has it, and its payload is as it came
  std::optional<duration> time_left{};
  base::error why{};  ///< of the worker
};
using numbers = std::vector<std::uint64_t>;
using lane_numbers = std::vector<lane_number>;

/// A frame that comes.
struct arrival {
  std::uint64_t number = 0;
  std::size_t size = small;
  lane_number lane = 3;
  fate what = fate::good;
  frame_kind kind = frame_kind::request;
  std::uint64_t type = 1;
  std::optional<duration> time_left{};
  bool is_late = false;
  bool has_handle = false;
  bool has_block = true;
};

struct fixture final : held_lanes::owner {
  garrick::testkit::test_system system;
  workers at{system.env()};
  source from;
  std::shared_ptr<link_test::counting_door> door = std::make_shared<link_test::counting_door>();
  const connection self{door};
  std::vector<std::vector<std::byte>> spent;  ///< bytes that were lent, overwritten
  std::vector<reading> read;
  lane_numbers told;
  std::uint64_t ends_with = 0;  ///< the link ends when this one is read
  std::size_t costs = 0;        ///< that each frame takes from the budget when it is read
  internal::decoding_budget budget{from.time};
  held_lanes lanes{*this, system.env(), from, self, budget};

  fixture() {
    decoded = 0;
    while_decoding = nullptr;
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  const content_codec* codec_of(const frame& f) override {
    return f.type == 1 ? &first_type : f.type == 2 ? &second_type : nullptr;
  }
  void read_held(const frame& f, bool is_late, decoding* by) override {
    reading r{.number = f.number, .by_worker = by != nullptr, .is_late = is_late};
    r.time_left = f.time_left;
    // A worker that has decoded a payload has freed its bytes.
    r.is_whole = by == nullptr && !f.payload.empty() && f.payload.back() == filler;
    if (by != nullptr) {
      const base::result<core::envelope*> made = by->result(by->how());
      if (made)
        core::envelope_ptr(*made).reset();
      else
        r.why = made.error();
    }
    read.push_back(std::move(r));
    budget.pay(costs);
    if (f.number == ends_with) lanes.end();
  }
  void delivered(lane_number lane) override { told.push_back(lane); }

  /// Returns the answer of `keep`. Bytes that were only lent are overwritten afterwards.
  bool come(const arrival& a) {
    const bool has_payload = a.kind <= frame_kind::response || a.kind == frame_kind::error ||
                             a.kind == frame_kind::resolve || a.kind == frame_kind::spawn ||
                             a.kind == frame_kind::spawned;
    packet p = packet::with_room(frame_room, a.size + 32);
    if (has_payload) {
      std::byte* const to = p.append(a.size);
      std::fill_n(to, a.size, filler);
      to[0] = static_cast<std::byte>(a.what);
      to[1] = std::byte{1};  // a handle's kind, if there is one
    }
    frame f{.kind = a.kind, .receiver = {1, 2}, .sender = {3, 4}, .number = a.number};
    if (a.kind <= frame_kind::response) {
      f.type = a.type;
      f.time_left = a.time_left;
    }
    if (a.has_handle) {
      p.append(std::vector<std::byte>(actor_id_size, filler));
      p.append(std::vector<std::byte>{std::byte{1}, {}, {}, {}});
      f.handles = 1;
    }
    prepend_header(f, p);
    growing_bytes block;
    block.append(p.bytes());
    std::vector<std::byte>& lent = spent.emplace_back(p.bytes().begin(), p.bytes().end());
    const std::span<const std::byte> bytes = a.has_block ? block.bytes() : lent;
    const frame decoded_one = decode_frame(bytes).value();
    const bool is_kept = lanes.keep({.bytes = bytes,
                                     .lane = a.lane,
                                     .is_late = a.is_late,
                                     .decoded = &decoded_one,
                                     .block = a.has_block ? &block : nullptr});
    std::fill(lent.begin(), lent.end(), std::byte{});
    return is_kept;
  }
  [[nodiscard]] numbers all_read() const {
    numbers all;
    for (const reading& r : read) all.push_back(r.number);
    return all;
  }
  /// Time passes, and the link is called from below.
  void go_on_after(duration d) {
    from.time = from.time + d;
    lanes.go_on();
  }
  static constexpr std::byte filler{0x5a};
};

}  // namespace held_lanes_test
