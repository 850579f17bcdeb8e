// The past of the systems of a deterministic world, for the text of a failure: the last messages,
// and the actors that failed.
//
// Thread safety: only the holder of the baton (baton.hpp).
#pragma once

#include <garrick/base/types/message_type.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace garrick::testkit::internal {

/// A handled message.
struct turn_record {
  std::uint64_t actor;
  std::uint64_t sender;
  const base::message_type* type;
  bool response;
};

class history {
 public:
  /// Gives the actor `id` a name; names outlive their actors.
  void name(std::uint64_t id, std::string_view name) { names_.emplace(id, std::string(name)); }
  /// Adds a handled message. Only the last messages are kept, but all are counted.
  void add(const turn_record& turn);
  /// Notes that a handler of the actor `id` failed. Returns the line about it.
  const std::string& add_failure(std::uint64_t id, std::string_view why);

  /// Returns "account#1"; "the test" for 0.
  [[nodiscard]] std::string name_of(std::uint64_t id) const;
  [[nodiscard]] std::uint64_t messages_handled() const noexcept { return handled_; }
  /// Returns the last messages and all failures, a line each; begins with a line feed unless it is
  /// empty.
  [[nodiscard]] std::string to_string() const;

 private:
  std::uint64_t handled_ = 0;
  std::deque<turn_record> turns_;
  std::vector<std::string> failures_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace garrick::testkit::internal
