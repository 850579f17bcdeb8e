#include "garrick/gpu/detail/kernel_base.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "garrick/gpu/internal/device_core.hpp"

namespace garrick::gpu::detail {
namespace {

/// A call that reads the data of another device's ref to the host.
class fetch_call final : public call {
 public:
  explicit fetch_call(const buffer_ptr& from) : bytes(from->bytes()) {
    what = "a move from another device";
    arguments.push_back({.kind = argument_kind::fetch,
                         .host = bytes.data(),
                         .bytes = bytes.size(),
                         .buffer = from});
  }
  std::vector<std::byte> bytes;
};

bool needs_doubles(std::span<const expected_parameter> wanted) {
  return std::ranges::any_of(
      wanted, [](const expected_parameter& p) { return p.type.starts_with("double"); });
}

std::string names_of(const device_program& p) {
  std::string s;
  for (const built_kernel& k : p.kernels) s.append(s.empty() ? "" : ", ").append(k.name);
  return s.empty() ? "none" : s;
}

/// Returns the bytes of the elements; the largest number if the product overflows.
std::size_t bytes_of(std::size_t elements, std::size_t each) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return elements > most / each ? most : elements * each;
}

}  // namespace

error thrown_by(const char* what, const std::string& where) {
  try {
    throw;
  } catch (const std::exception& e) {
    return make_error(errc::receiver_failed, where, std::string(what) + ": " + e.what());
  } catch (...) { return make_error(errc::receiver_failed, where, what); }
}

std::size_t fastest(std::span<const kernel_lane> lanes, std::uint64_t items) noexcept {
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].kernel->on->is_lost()) continue;
    // A lane that was never measured gets one call first. It is avoided until that call ends.
    const double price = lanes[i].ns_per_item != 0 ? lanes[i].ns_per_item
                         : lanes[i].calls == 0     ? 0
                                                   : 1e12;
    const double ends = static_cast<double>(lanes[i].items + items) * price;
    if (ends < least) {
      least = ends;
      best = i;
    }
  }
  return best;
}

result<std::vector<kernel_lane>> lanes_of(const kernel_seed& s,
                                          std::span<const expected_parameter> wanted) {
  const auto& built = s.program.built();
  if (built == nullptr)
    return make_error(gpu_errc::kernel_not_found, "kernel " + s.kernel, "the program is empty");
  std::vector<kernel_lane> lanes;
  for (const auto& p : built->on) {
    const device d(p->on);
    if (s.options.on && s.options.on != d) continue;
    const std::string where = "kernel " + s.kernel + " on " + d.name();
    const built_kernel* const k = p->find(s.kernel);
    if (k == nullptr)
      return make_error(gpu_errc::kernel_not_found, where,
                        "kernels of " + built->name + ": " + names_of(*p));
    if (const std::string why = mismatch(*k, wanted); !why.empty())
      return make_error(gpu_errc::wrong_arguments, where, why);
    if (needs_doubles(wanted) && !d.has(capability::doubles))
      return make_error(gpu_errc::unsupported, where, "the device has no doubles");
    lanes.push_back({.kernel = std::shared_ptr<const built_kernel>(p, k)});
    if (!s.options.spread) break;
  }
  if (lanes.empty())
    return make_error(gpu_errc::no_device, "kernel " + s.kernel,
                      built->name + " was not built for " + s.options.on.name());
  return lanes;
}

kernel_seed::kernel_seed(gpu::program p, std::string name_of_kernel, nd_range r, kernel_options o)
    : program(std::move(p)), kernel(std::move(name_of_kernel)), range(r), options(std::move(o)) {}
kernel_seed::kernel_seed(const kernel_seed& other) = default;
kernel_seed::kernel_seed(kernel_seed&& other) noexcept = default;
kernel_seed::~kernel_seed() = default;

kernel_base::~kernel_base() = default;
kernel_base::kernel_base(kernel_seed s, const kernel_facts& facts)
    : seed_(std::move(s)), facts_(facts) {
  if (auto lanes = lanes_of(seed_, facts_.expected))
    lanes_ = *std::move(lanes);
  else
    refusal_ = lanes.error();
}

std::string kernel_base::where() const {
  std::string s = "kernel " + seed_.kernel;
  if (!lanes_.empty()) s.append(" on ").append(lanes_.front().kernel->on->info().name);
  return s;
}

std::size_t kernel_base::elements(const std::vector<std::size_t>& told, std::size_t at,
                                  std::size_t otherwise) const noexcept {
  return at < told.size() && told[at] != per_item ? told[at] : otherwise;
}

duration kernel_base::deadline() const {
  if (seed_.options.deadline > duration()) return seed_.options.deadline;
  return lanes_.front().kernel->on->settings().deadline;
}

/// Sets the groups that the kernel itself declares, if any. Returns an error if the range has other
/// groups.
error kernel_base::groups_for(nd_range& r) const {
  const nd_range::extent& own = lanes_.front().kernel->required_group;
  if (own == nd_range::extent{}) return {};
  const nd_range wanted = r.groups_of(own[0], own[1], own[2]);
  if (r.has_groups() && r.local() != wanted.local())
    return make_error(gpu_errc::bad_range, where(),
                      r.to_string() + ": the kernel wants it as " + wanted.to_string());
  r = wanted;
  return {};
}

error kernel_base::prepare(kernel_call& c, const std::optional<nd_range>& wanted) const {
  std::vector<std::size_t> inputs(facts_.containers);
  c.sizes(inputs.data());
  const result<launch_plan> plan = plan_for(wanted, inputs);
  if (!plan) return plan.error();
  if (error why = not_as_fixed(*plan)) return why;
  if (error why = too_large(*plan)) return why;
  c.range = plan->range;
  c.fill(*plan);
  return {};
}

result<launch_plan> kernel_base::plan_for(const std::optional<nd_range>& wanted,
                                          std::span<const std::size_t> inputs) const {
  if (refusal_) return refusal_;
  const auto numbered = [](const char* what, std::size_t i) {
    return std::string(what) + " " + std::to_string(i + 1);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] == 0)
      return make_error(gpu_errc::empty_argument, where(), numbered("container", i));
  launch_plan plan;
  plan.range = wanted.value_or(seed_.range);
  if (!inputs.empty()) plan.range = plan.range.resolved(inputs.front());
  if (error why = groups_for(plan.range)) return why;
  const std::size_t largest = lanes_.front().kernel->largest_group;
  if (const std::string why = plan.range.trouble(largest); !why.empty())
    return make_error(gpu_errc::bad_range, where(), plan.range.to_string() + ": " + why);
  const std::size_t each = plan.range.index_space();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t n = elements(seed_.options.input_elements, i, each);
    if (n != any_size && inputs[i] != n)
      return make_error(gpu_errc::wrong_size, where(),
                        numbered("container", i) + " has " + std::to_string(inputs[i]) +
                            " elements and needs " + std::to_string(n));
  }
  for (std::size_t i = 0; i < facts_.output_bytes.size(); ++i)
    plan.outputs.push_back(elements(seed_.options.output_elements, i, each));
  for (std::size_t i = 0; i < facts_.local_bytes.size(); ++i) {
    const std::size_t n = elements(seed_.options.local_elements, i,
                                   plan.range.has_groups() ? plan.range.group_items() : 0);
    if (n == 0)
      return make_error(gpu_errc::empty_argument, where(),
                        numbered("local argument", i) +
                            " has no size: the range has no groups, and the options do not say");
    plan.locals.push_back(n);
  }
  return plan;
}

error kernel_base::not_as_fixed(const launch_plan& plan) const {
  for (std::size_t i = 0; i < facts_.output_sizes.size(); ++i) {
    const std::size_t fixed = facts_.output_sizes[i];
    if (fixed != 0 && fixed != plan.outputs[i])
      return make_error(gpu_errc::wrong_size, where(),
                        "output " + std::to_string(i + 1) + " has " + std::to_string(fixed) +
                            " elements and needs " + std::to_string(plan.outputs[i]));
  }
  return {};
}

error kernel_base::too_large(const launch_plan& plan) const {
  const auto& of_outputs = facts_.output_bytes;
  const auto& of_locals = facts_.local_bytes;
  std::uint64_t buffer = 0;
  std::uint64_t local = 0;
  for (const kernel_lane& l : lanes_) {
    buffer = std::max(buffer, l.kernel->on->info().largest_buffer);
    local = std::max(local, l.kernel->on->info().local_memory);
  }
  for (std::size_t i = 0; i < of_outputs.size(); ++i)
    if (bytes_of(plan.outputs[i], of_outputs[i]) > buffer)
      return make_error(gpu_errc::out_of_memory, where(),
                        "output " + std::to_string(i + 1) + " has " +
                            std::to_string(plan.outputs[i]) + " elements, and a buffer at most " +
                            std::to_string(buffer) + " bytes");
  std::uint64_t left = local;
  for (std::size_t i = 0; i < of_locals.size(); ++i) {
    const std::size_t need = bytes_of(plan.locals[i], of_locals[i]);
    if (need > left)
      return make_error(gpu_errc::out_of_memory, where(),
                        "local argument " + std::to_string(i + 1) + " has " +
                            std::to_string(plan.locals[i]) + " elements, and a group " +
                            std::to_string(local) + " bytes in all");
    left -= need;
  }
  return {};
}

/// Returns the lane for a call: the first ref on a device where the kernel can run decides;
/// otherwise the fastest lane.
std::size_t kernel_base::lane_for(const call& c) const {
  for (const argument& a : c.arguments) {
    if (!a.buffer) continue;
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      if (lanes_[i].kernel->on == a.buffer->owner()) return i;
  }
  return lanes_.size() == 1 ? 0 : fastest(lanes_, c.range.items());
}

void kernel_base::launch(actor_base& me, std::shared_ptr<call> c) {
  const std::size_t lane = lane_for(*c);
  const auto& kernel = lanes_[lane].kernel;
  c->kernel = kernel;
  for (const argument& a : c->arguments)
    if (a.bytes > kernel->on->info().largest_buffer && a.kind != argument_kind::local)
      return settled(
          c, make_error(gpu_errc::out_of_memory, c->where(*kernel->on),
                        "no buffer of the device has " + std::to_string(a.bytes) + " bytes"));
  bring_home(me, std::move(c), lane, 0, me.now() + deadline());
}

void kernel_base::failed(const std::shared_ptr<call>& c, std::size_t lane, const error& why) {
  if (why != errc::timeout) return settled(c, why);
  settled(c, make_error(gpu_errc::deadline, c->where(*lanes_[lane].kernel->on)));
}

/// Fetches refs of other devices, one after the other, from argument `from` on; then launches the
/// kernel.
void kernel_base::bring_home(actor_base& me, std::shared_ptr<call> c, std::size_t lane,
                             std::size_t from, instant until) {
  const std::shared_ptr<internal::device_core>& home = lanes_[lane].kernel->on;
  for (std::size_t i = from; i < c->arguments.size(); ++i) {
    argument& a = c->arguments[i];
    if (!a.buffer || a.buffer->owner() == home) continue;
    if (seed_.options.foreign == foreign_ref::refuse)
      return settled(c, make_error(gpu_errc::other_device, c->where(*home),
                                   "argument " + std::to_string(i + 1) + " lies on " +
                                       a.buffer->device().info().name));
    const auto fetch = std::make_shared<fetch_call>(a.buffer);
    adapt<>(me,
            [&](completion<> done) {
              fetch->completes(std::move(done));
              a.buffer->device().post(fetch);
            })
        .within(until - me.now())
        .then(
            [this, &me, c, lane, i, fetch, until] {
              try {
                argument& moved = c->arguments[i];
                moved.buffer = {};
                moved.host = fetch->bytes.data();
                c->keeps(fetch);
                bring_home(me, c, lane, i + 1, until);
              } catch (...) { settled(c, thrown_by("a move from another device", where())); }
            },
            [this, c, lane, fetch](const error& why) {
              fetch->abandon();
              failed(c, lane, why);
            });
    return;
  }
  give(me, std::move(c), lane, until);
}

void kernel_base::give(actor_base& me, std::shared_ptr<call> c, std::size_t lane, instant until) {
  kernel_lane& l = lanes_[lane];
  const std::uint64_t items = std::max<std::uint64_t>(c->range.items(), 1);
  l.items += items;
  ++l.calls;
  const instant begun = me.now();
  const std::uint32_t beside = l.calls;
  const auto over = [this, lane, items] {
    lanes_[lane].items -= items;
    --lanes_[lane].calls;
  };
  adapt<>(me,
          [&](completion<> done) {
            c->completes(std::move(done));
            l.kernel->on->post(c);
          })
      .within(until - me.now())
      .then(
          [this, &me, c, lane, items, begun, beside, over] {
            over();
            kernel_lane& of = lanes_[lane];
            const auto ns = static_cast<double>((me.now() - begun).count());
            const double each = std::max(ns, 1.0) / static_cast<double>(items) / beside;
            // The newest value counts a quarter, since other users may slow a device down.
            of.ns_per_item = of.ns_per_item == 0 ? each : of.ns_per_item * 0.75 + each * 0.25;
            settled(c, {});
          },
          [this, c, lane, over](const error& why) {
            over();
            c->abandon();
            failed(c, lane, why);
          });
}

}  // namespace garrick::gpu::detail
