// The settings of all actors of one system: `mailbox.*` and `requests.*`.
// A spawn may override some (spawn_options.hpp).
//
// Thread safety: values. A running system has a copy that does not change.
#pragma once

#include <garrick/base/time/clock.hpp>

#include <cstdint>

namespace garrick::base {
class setting_table;
}

namespace garrick::core {

/// The highest soft limit and bound of a mailbox, in messages: half of the count that its word can
/// hold.
inline constexpr std::uint32_t most_messages = 32'768;
/// The highest hard limit of a mailbox, in messages: half of the length that can be counted, so
/// that senders which push at the same moment do no harm.
inline constexpr std::uint32_t most_messages_at_all = 1u << 30;
/// The highest `requests.outstanding_limit`.
inline constexpr std::uint32_t most_outstanding = 1u << 20;
/// The highest `mailbox.full_wait`.
inline constexpr base::duration longest_full_wait = base::duration::seconds(60);

/// Returns true in builds of the library without NDEBUG; the program's own build does not matter.
[[nodiscard]] bool detect_cycles_by_default() noexcept;

/// Keys `mailbox.*`.
///
///     garrick::settings s;
///     s.mailbox.soft_limit = 2000;
///     s.mailbox.full_wait = {};   // a send never waits
///     actor_system system(s);
struct mailbox_settings {
  /// messages in a mailbox from which on senders are slowed: 1 to `most_messages`
  std::uint32_t soft_limit = 512;
  /// messages in a mailbox above which new ones become dead letters, unless the receiver can be run
  /// or makes progress: not below `soft_limit`, and up to `most_messages_at_all`; a mailbox may
  /// pass a limit above 65'536 by up to `soft_limit` messages
  std::uint32_t hard_limit = 16'777'216;
  /// a sending worker may run its full receiver in place
  bool in_place = true;
  /// the most messages of the receiver that such a worker handles in one run, at least 1
  std::uint32_t in_place_batch = 1024;
  /// The longest wait of a send for a full receiver that makes no progress, up to
  /// `longest_full_wait`. A wait that ends without room doubles the next one, up to 16 times this
  /// value. Zero: a send never waits.
  base::duration full_wait = base::duration::milliseconds(1);
};

/// Keys `requests.*`.
struct request_settings {
  /// requests of one actor that wait for their response: 1 to `most_outstanding`; the next one is
  /// answered with `errc::overload`
  std::uint32_t outstanding_limit = most_outstanding;
  /// look for circles, such as A and B that wait for each other, whenever an actor starts to await
  bool detect_cycles = detect_cycles_by_default();
};

/// Adds the rows of `mailbox.*` and `requests.*`, which fill these variables.
void add_settings(base::setting_table& table, mailbox_settings& mailbox,
                  request_settings& requests);

}  // namespace garrick::core
