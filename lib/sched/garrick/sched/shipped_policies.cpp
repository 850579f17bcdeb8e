// The table of the policies that can be chosen by name, made from the list in policy_list.hpp.
#include <garrick/sched/shipped_policies.hpp>

#include <garrick/sched/policy_list.hpp>
#include <garrick/sched/worker_pool.hpp>

#include <array>
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
std::unique_ptr<scheduler> make_pool(scheduler_options options) {
  return std::make_unique<worker_pool<Policy>>(std::move(options));
}

template <class Policy, policy_builds Builds>
constexpr shipped_policy entry_of(policy_line<Policy, Builds> line) noexcept {
  shipped_policy entry{.name = Policy::name, .summary = line.summary};
  if constexpr (Builds == policy_builds::every || !minimal_build) entry.make = &make_pool<Policy>;
  return entry;
}

constexpr auto table =
    std::apply([](auto... lines) { return std::array{entry_of(lines)...}; }, shipped_policy_list());

const shipped_policy* find(std::string_view name) noexcept {
  for (const shipped_policy& entry : table)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace

std::span<const shipped_policy> shipped_policies() noexcept { return table; }

std::vector<std::string> available_policies() {
  std::vector<std::string> names;
  for (const shipped_policy& policy : table)
    if (policy.is_available()) names.emplace_back(policy.name);
  return names;
}

std::string why_not_available(std::string_view policy) {
  const shipped_policy* const entry = find(policy);
  if (entry != nullptr && entry->is_available()) return {};
  std::string text = entry != nullptr ? "this build (GARRICK_MINIMAL) does not contain it; " : "";
  const char* before = "known are \"";
  for (const std::string& other : available_policies()) {
    text += before + other + "\"";
    before = ", \"";
  }
  return text;
}

std::unique_ptr<scheduler> make_scheduler(const scheduler_options& options) {
  scheduler_options final_options = checked(options);
  if (const std::string why = why_not_available(options.policy); !why.empty())
    throw std::invalid_argument("setting scheduler.policy is \"" + options.policy + "\"; " + why);
  return find(options.policy)->make(std::move(final_options));
}

}  // namespace garrick::sched
