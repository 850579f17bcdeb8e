#include <garrick/net/node/node_settings.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace garrick::net {

namespace {

base::error wrong(std::string_view name, std::string_view why) {
  return base::make_error(base::errc::invalid_setting, "node_settings." + std::string(name), why);
}

/// None would be enough for nothing: with no credit, say, nobody could ever send anything.
base::error check_some(std::string_view name, std::uint64_t value, std::uint64_t most) {
  if (value != 0) return {};
  return wrong(name, "0, where 1 to " + std::to_string(most) + " is allowed");
}

/// Below zero, a wait would be for ever, or none, by who counts.
base::error check_time(std::string_view name, base::duration value) {
  if (value >= base::duration()) return {};
  return wrong(name, std::to_string(value.count()) + " ns, where 0 and more is allowed");
}

}  // namespace

base::error check(const node_settings& s) {
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
  link.session.self.incarnation = 1;  // the node puts its own in
  return check(link);
}

}  // namespace garrick::net
