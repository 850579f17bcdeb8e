// A master shares the vector, which cannot be changed then; each worker makes a new part from its
// part of it, and the master puts these together in a new vector.
#include <memory>

#include "common/caf_system.hpp"
#include "data_parallel/common/increment.hpp"

namespace {

struct slice {
  std::shared_ptr<const bench::numbers> all;
  std::size_t begin;
  std::size_t end;
};

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(slice)

namespace {

using bench::numbers;

caf::behavior worker(caf::event_based_actor*) {
  return {
      [](const slice& s) {
        numbers part(s.end - s.begin);
        for (std::size_t i = s.begin; i < s.end; ++i)
          part[i - s.begin] = bench::changed((*s.all)[i]);
        return part;
      },
  };
}

struct master_state {
  std::vector<caf::actor> workers;
  std::vector<numbers> parts;
  std::size_t outstanding = 0;
  caf::response_promise promise;

  void put_together() {
    std::size_t size = 0;
    for (const numbers& part : parts) size += part.size();
    numbers all;
    all.reserve(size);
    for (numbers& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
      part = {};
    }
    promise.deliver(std::move(all));
  }
};

caf::behavior master(caf::stateful_actor<master_state>* self, std::uint32_t workers) {
  self->state.parts.resize(workers);
  for (std::uint32_t i = 0; i < workers; ++i)
    self->state.workers.push_back(self->spawn<caf::linked>(worker));
  return {
      [=](numbers& all) -> caf::result<numbers> {
        master_state& s = self->state;
        const auto shared = std::make_shared<const numbers>(std::move(all));
        s.outstanding = s.workers.size();
        s.promise = self->make_response_promise();
        for (std::size_t i = 0; i < s.workers.size(); ++i) {
          const std::size_t begin = bench::begin_of_part(shared->size(), i, s.workers.size());
          const std::size_t end = bench::begin_of_part(shared->size(), i + 1, s.workers.size());
          self->request(s.workers[i], caf::infinite, slice{shared, begin, end})
              .then([=](numbers& part) {
                self->state.parts[i] = std::move(part);
                if (--self->state.outstanding == 0) self->state.put_together();
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
