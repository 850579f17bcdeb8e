// Adds the settings of core to the table of a system's settings.
#include <garrick/base/settings/setting_table.hpp>
#include <garrick/core/settings/settings.hpp>

namespace garrick::core {

bool detect_cycles_by_default() noexcept {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

void add_settings(base::setting_table& table, mailbox_settings& mailbox,
                  request_settings& requests) {
  using base::note;
  constexpr std::int64_t unlimited = 0xffff'ffff;
  table.add({"mailbox.soft_limit",
             &mailbox.soft_limit,
             {1, most_messages},
             "messages",
             note("Messages in a mailbox from which on senders are slowed"),
             note("core/cell/cell.cpp")});
  table.add({"mailbox.hard_limit",
             &mailbox.hard_limit,
             {1, most_messages_at_all},
             "messages",
             note("Messages above which new ones become dead letters"),
             note("core/overload/internal/admission.cpp")});
  table.must_not_be_below("mailbox.hard_limit", "mailbox.soft_limit");
  table.add({"mailbox.in_place",
             &mailbox.in_place,
             {},
             "",
             note("A sending worker may run a receiver that is full"),
             note("core/overload/internal/in_place.cpp")});
  table.add({"mailbox.in_place_batch",
             &mailbox.in_place_batch,
             {1, unlimited},
             "messages",
             note("Messages that it runs at most"),
             note("core/overload/internal/in_place.cpp")});
  table.add({"mailbox.full_wait",
             &mailbox.full_wait,
             {base::duration(), longest_full_wait},
             "",
             note("Longest wait of a send for a full receiver that makes no progress"),
             note("core/overload/internal/room_wait.cpp")});
  table.add({"requests.outstanding_limit",
             &requests.outstanding_limit,
             {1, most_outstanding},
             "requests",
             note("Requests of one actor that wait for a response"),
             note("core/request.cpp")});
  table.add({"requests.detect_cycles",
             &requests.detect_cycles,
             {},
             "",
             note("Report actors that wait for each other in a circle"),
             note("system/system_core.cpp")});
}

}  // namespace garrick::core
