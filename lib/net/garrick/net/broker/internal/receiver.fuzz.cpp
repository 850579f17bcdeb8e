// A stream's messages follow the policies however it arrives, is read and is held: each byte is
// passed on once and in order, no held byte changes, and a reader that was refused for lack of room
// is woken.
//
// The first three bytes are the size of a block, the number of blocks and the most messages under
// way. Each two bytes after these are a step: an action and an amount.
#include "garrick/net/broker/internal/receiver.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "garrick/base/platform/assert.hpp"

using namespace garrick::net;
using garrick::net::internal::read_pool;
using garrick::net::internal::receiver;

namespace {

class counting_pool final : public read_pool {
 public:
  using read_pool::read_pool;
  int woken = 0;

 private:
  void wake() noexcept override { ++woken; }
};

/// The rules of receive_policy.hpp, for bytes in a string.
class reference {
 public:
  void set(const receive_policy& p) { policy_ = p; }
  void came(char c) { unread_.push_back(c); }
  [[nodiscard]] bool reads() const { return policy_.has_value(); }
  [[nodiscard]] std::size_t unread() const { return unread_.size(); }
  /// Returns the next message; empty: it is not whole.
  [[nodiscard]] std::string_view next() const {
    if (!policy_) return {};
    const std::string_view all = unread_;
    const std::size_t n = policy_->bytes();
    switch (policy_->what()) {
      case receive_policy::kind::at_most: return all.substr(0, n);
      case receive_policy::kind::at_least: return all.size() < n ? all.substr(0, 0) : all;
      case receive_policy::kind::exactly: break;
    }
    return all.size() < n ? all.substr(0, 0) : all.substr(0, n);
  }
  void took() {
    unread_.erase(0, next().size());
    if (policy_->is_once()) policy_.reset();
  }

 private:
  std::optional<receive_policy> policy_;
  std::string unread_;
};

class run {
 public:
  run(std::size_t size, std::size_t blocks, std::uint32_t messages)
      : size_(size),
        most_(messages),
        pool_(std::make_shared<counting_pool>(size, blocks, messages)),
        receiver_(pool_) {}

  void step(std::uint8_t what, std::uint8_t much) {
    switch (what % 4) {
      case 0: set(what / 4, much); break;
      case 1: read(much); break;
      case 2: take(); break;
      default: drop(much);
    }
    GARRICK_ASSERT(receiver_.unread() == expected_.unread(), "bytes came from nowhere, or went");
    for (const auto& [now, then] : held_)
      GARRICK_ASSERT(now.text() == then, "bytes that are held have changed");
  }
  /// Drops all held parts, after which refused calls must be possible.
  void end() {
    while (!held_.empty()) drop(0);
    if (refused_) GARRICK_ASSERT(pool_->woken > woken_before_, "no reader was woken");
    if (!expected_.reads()) return;
    while (!expected_.next().empty()) {
      take();
      held_.clear();
      if (!expected_.reads()) return;
    }
    GARRICK_ASSERT(receiver_.room(), "with all blocks free nothing is read");
  }

 private:
  void set(std::uint8_t how, std::uint8_t much) {
    const std::size_t n = much;
    receive_policy p = how % 3 == 0   ? receive_policy::at_most(n)
                       : how % 3 == 1 ? receive_policy::at_least(n)
                                      : receive_policy::exactly(n);
    if (how / 3 % 2 == 1) p = p.once();
    const bool is_possible = n != 0 && (how % 3 == 0 || n <= size_);
    GARRICK_ASSERT(!receiver::wrong_with(p, size_) == is_possible,
                   "a policy that the blocks can keep");
    if (!is_possible) return;
    receiver_.set(p);
    expected_.set(p);
  }
  void read(std::size_t most) {
    const auto room = receiver_.room();
    if (!room) {
      const bool may = expected_.reads() && expected_.next().empty();
      if (may) is_refused();
      if (may) GARRICK_ASSERT(!held_.empty(), "with all blocks free nothing is read");
      return;
    }
    GARRICK_ASSERT(expected_.reads() && expected_.next().empty(),
                   "it reads bytes that no policy wants");
    GARRICK_ASSERT(!room->empty(), "room for nothing");
    const char* const begin = reinterpret_cast<const char*>(room->data());
    for (const auto& [now, then] : held_)
      GARRICK_ASSERT(
          now.text().data() + now.size() <= begin || begin + room->size() <= now.text().data(),
          "it reads over bytes that are held");
    const std::size_t n = std::min(most, room->size());
    for (std::size_t i = 0; i < n; ++i) {
      const char c = static_cast<char>(next_byte_++);
      (*room)[i] = static_cast<std::byte>(c);
      expected_.came(c);
    }
    receiver_.filled(n);
  }
  void take() {
    const std::string_view message = expected_.next();
    std::optional<received> got = receiver_.next();
    if (message.empty()) {
      GARRICK_ASSERT(!got, "a message that is not whole");
    } else if (held_.size() >= most_) {
      GARRICK_ASSERT(!got, "more messages than there may be");
      is_refused();
    } else {
      GARRICK_ASSERT(got && got->text() == message, "another message");
      held_.emplace_back(*std::move(got), std::string(message));
      expected_.took();
    }
  }
  void drop(std::size_t which) {
    if (held_.empty()) return;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which % held_.size()));
    if (std::exchange(refused_, false))
      GARRICK_ASSERT(pool_->woken > woken_before_, "no reader was woken");
  }
  void is_refused() {
    refused_ = true;
    woken_before_ = pool_->woken;
  }

  const std::size_t size_;
  const std::size_t most_;
  const std::shared_ptr<counting_pool> pool_;
  receiver receiver_;
  reference expected_;
  std::vector<std::pair<received, std::string>> held_;
  std::uint8_t next_byte_ = 0;
  bool refused_ = false;  ///< since the last part came back
  int woken_before_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 4096) return 0;
  run r(data[0] % 96u + 1, data[1] % 4u + 2, data[2] % 8u + 1);
  for (std::size_t i = 3; i + 1 < size; i += 2) r.step(data[i], data[i + 1]);
  r.end();
  return 0;
}
