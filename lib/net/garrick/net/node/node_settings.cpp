#include <garrick/net/node/node_settings.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace garrick::net {

namespace {

base::error wrong(std::string_view name, std::string_view why) {
  return base::make_error(base::errc::invalid_setting, "node_settings." + std::string(name), why);
}

/// Refuses zero: without credit, for example, no actor could send.
base::error check_some(std::string_view name, std::uint64_t value, std::uint64_t most) {
  if (value != 0) return {};
  return wrong(name, "0, where 1 to " + std::to_string(most) + " is allowed");
}

/// Refuses negative durations, which the users of a setting would read as "for ever" or as "none".
base::error check_time(std::string_view name, base::duration value) {
  if (value >= base::duration()) return {};
  return wrong(name, value.to_string() + ", where 0 and more is allowed");
}

}  // namespace

base::error internal::check_without_stacks(const node_settings& s) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (base::error e = check_some("most_under_way", s.most_under_way, most)) return e;
  if (base::error e = check_some("most_bytes_waiting", s.most_bytes_waiting,
                                 std::numeric_limits<std::size_t>::max()))
    return e;
  if (base::error e = check_some("most_questions", s.most_questions, most)) return e;
  if (base::error e = check_time("patience", s.patience)) return e;
  if (base::error e = check_time("leave_limit", s.leave_limit)) return e;
  if (s.after_down > peer_return::new_life_only)
    return wrong("after_down", "it is no value of net::peer_return");
  link_settings link = s.link;
  link.session.self.incarnation = 1;  // the node replaces it by its own
  return check(link);
}

base::error internal::check_stack(const node_settings& s, carrier_kind there) {
  const bool stream = there == carrier_kind::stream;
  const std::string_view setting = stream ? "stream_stack" : "datagram_stack";
  const std::string& name = stream ? s.stream_stack : s.datagram_stack;
  const named_stack* const stack = s.stacks.find(name);
  if (stack == nullptr) return wrong(setting, s.stacks.explain(name).detail());
  if (stack->transport != there)
    return wrong(setting,
                 stream ? name + " stands on datagrams, and TCP and Unix domain sockets are streams"
                        : name + " stands on a stream, and UDP is datagrams");
  // Credit that is lost is never granted again, and a sender without credit waits.
  if (!stack->provides.confirmed)
    return wrong(setting, "the stack '" + name +
                              "' does not confirm messages, so nodes cannot use it; 'stream' and "
                              "'datagrams' do");
  return {};
}

base::error check(const node_settings& s) {
  if (base::error e = internal::check_without_stacks(s)) return e;
  if (base::error e = internal::check_stack(s, carrier_kind::stream)) return e;
  return internal::check_stack(s, carrier_kind::datagrams);
}

}  // namespace garrick::net
