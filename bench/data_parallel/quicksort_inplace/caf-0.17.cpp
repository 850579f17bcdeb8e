// An actor for each range, without shared memory: it divides its values, gives copies of both parts
// to two new actors, and copies their answers to its place.
#include "common/caf_system.hpp"
#include "data_parallel/quicksort_inplace/kernel.hpp"

namespace {

using bench::values;

struct sorter_state {
  values all;
  int answers = 0;
  caf::response_promise promise;
};

caf::behavior sorter(caf::stateful_actor<sorter_state>* self, std::uint32_t cutoff) {
  const auto sort_part = [=](std::size_t begin, std::size_t end) {
    const auto place = self->state.all.begin() + static_cast<std::ptrdiff_t>(begin);
    values part(place, self->state.all.begin() + static_cast<std::ptrdiff_t>(end));
    self->request(self->spawn(sorter, cutoff), caf::infinite, std::move(part))
        .then([=](const values& sorted) {
          sorter_state& s = self->state;
          std::copy(sorted.begin(), sorted.end(), place);
          if (++s.answers < 2) return;
          s.promise.deliver(std::move(s.all));
          self->quit();
        });
  };
  return {
      [=](values& all) -> caf::result<values> {
        if (all.size() < cutoff) {
          bench::sort_few(all.data(), all.size());
          self->quit();
          return std::move(all);
        }
        sorter_state& s = self->state;
        s.all = std::move(all);
        s.promise = self->make_response_promise();
        const std::size_t k = bench::divide(s.all.data(), s.all.size());
        sort_part(0, k);
        sort_part(k, s.all.size());
        return caf::delegated<values>();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t count = args.number("values", 10'000'000);
  const std::uint32_t cutoff = args.count("cutoff", default_cutoff);

  values v = quicksort_input(count);
  out.seconds = run_system(args, [&](caf::actor_system& system) {
    const caf::scoped_actor self(system);
    self->request(system.spawn(sorter, cutoff), caf::infinite, std::move(v))
        .receive([&](values& sorted) { v = std::move(sorted); },
                 [&](const caf::error& e) { out.error(system.render(e)); });
  });
  check_quicksort(out, v, count);
}
