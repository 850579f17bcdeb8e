// A master copies the parts of the vector and sends each to a worker, which changes it and sends it
// back; the master copies it to its place.
#include "common/caf_system.hpp"
#include "data_parallel/common/increment.hpp"

namespace {

using bench::numbers;

caf::behavior worker(caf::event_based_actor*) {
  return {
      [](numbers& part) {
        bench::change(part.data(), part.size());
        return std::move(part);
      },
  };
}

struct master_state {
  std::vector<caf::actor> workers;
  numbers whole;
  std::size_t outstanding = 0;
  caf::response_promise promise;
};

caf::behavior master(caf::stateful_actor<master_state>* self, std::uint32_t workers) {
  for (std::uint32_t i = 0; i < workers; ++i)
    self->state.workers.push_back(self->spawn<caf::linked>(worker));
  return {
      [=](numbers& all) -> caf::result<numbers> {
        master_state& s = self->state;
        s.whole = std::move(all);
        s.outstanding = s.workers.size();
        s.promise = self->make_response_promise();
        for (std::size_t i = 0; i < s.workers.size(); ++i) {
          const std::size_t begin = bench::begin_of_part(s.whole.size(), i, s.workers.size());
          const std::size_t end = bench::begin_of_part(s.whole.size(), i + 1, s.workers.size());
          numbers part(s.whole.begin() + static_cast<std::ptrdiff_t>(begin),
                       s.whole.begin() + static_cast<std::ptrdiff_t>(end));
          self->request(s.workers[i], caf::infinite, std::move(part))
              .then([=](const numbers& part_of_it) {
                master_state& now = self->state;
                std::copy(part_of_it.begin(), part_of_it.end(),
                          now.whole.begin() + static_cast<std::ptrdiff_t>(begin));
                if (--now.outstanding == 0) now.promise.deliver(std::move(now.whole));
              });
        }
        return caf::delegated<numbers>();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  rounds all(args);
  numbers v = all.input();
  const std::uint32_t workers = args.count("workers", 2);
  run_system(args, [&](caf::actor_system& system) {
    const caf::scoped_actor self(system);
    const caf::actor raise = system.spawn(master, workers);
    all.measure([&] {
      self->request(raise, caf::infinite, std::move(v))
          .receive([&](numbers& back) { v = std::move(back); },
                   [&](const caf::error& e) { out.error(system.render(e)); });
    });
    caf::anon_send_exit(raise, caf::exit_reason::user_shutdown);
  });
  all.check(out, v);
}
