// The table of the policies that can be chosen by name, made from the list in policy_list.hpp.
#include <garrick/sched/shipped_policies.hpp>

#include <garrick/base/settings/setting_table.hpp>
#include <garrick/sched/policy_list.hpp>
#include <garrick/sched/worker_pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace garrick::sched {

namespace {

#if defined(GARRICK_MINIMAL)
constexpr bool minimal_build = true;
#else
constexpr bool minimal_build = false;
#endif

template <class Policy>
std::unique_ptr<scheduler> make_pool(scheduler_settings settings) {
  return std::make_unique<worker_pool<Policy>>(std::move(settings));
}

template <class Policy, policy_builds Builds>
constexpr shipped_policy entry_of(policy_line<Policy, Builds> line) noexcept {
  constexpr bool available = Builds == policy_builds::every || !minimal_build;
  shipped_policy entry{.name = Policy::name, .summary = line.summary, .available = available};
  if constexpr (available) entry.make = &make_pool<Policy>;
  return entry;
}

constexpr auto shipped =
    std::apply([](auto... lines) { return std::array{entry_of(lines)...}; }, shipped_policy_list());

constexpr std::size_t available_count =
    static_cast<std::size_t>(std::ranges::count_if(shipped, &shipped_policy::available));

constexpr std::array<std::string_view, available_count> available_names = [] {
  std::array<std::string_view, available_count> names;
  std::size_t filled = 0;
  for (const shipped_policy& entry : shipped)
    if (entry.available) names[filled++] = entry.name;
  return names;
}();

const shipped_policy* find(std::string_view name) noexcept {
  const auto found = std::ranges::find(shipped, name, &shipped_policy::name);
  return found == shipped.end() ? nullptr : &*found;
}

std::string why_not_available(const std::string& name) {
  const shipped_policy* const known = find(name);
  return known != nullptr && !known->available ? "this build (GARRICK_MINIMAL) does not contain it"
                                               : std::string();
}

}  // namespace

std::span<const shipped_policy> shipped_policies() noexcept { return shipped; }

std::vector<std::string> available_policies() {
  return {available_names.begin(), available_names.end()};
}

void add_policy_setting(base::setting_table& table, std::string& policy) {
  using base::note;
  base::setting_range names(available_names);
  names.why_not = &why_not_available;
  table.add({"scheduler.policy", &policy, names, "", note("How workers share work"),
             note("sched/shipped_policies.cpp")});
}

std::unique_ptr<scheduler> make_scheduler(const scheduler_settings& settings) {
  scheduler_settings final_settings = checked(settings);
  base::setting_table table;
  add_policy_setting(table, final_settings.policy);
  if (const auto refused = table.first_refused()) throw std::invalid_argument(refused->why);
  return find(settings.policy)->make(std::move(final_settings));
}

}  // namespace garrick::sched
