// The map accelerator of paper 003 §6.2.2 in CAF: an actor that scatters and gathers, and workers
// with threads of their own. They read the container that all share, and make new results.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/caf_system.hpp"
#include "data_parallel/accelerator/matrix.hpp"

namespace bench {

using shared_row = std::shared_ptr<const row>;
using done_atom = caf::atom_constant<caf::atom("done")>;

}  // namespace bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::shared_row)

namespace bench {

// Answers (request, row, begin, end) with (request, begin, results).
inline caf::behavior map_worker(caf::event_based_actor* self, std::uint64_t steps) {
  return {
      [=](std::uint64_t request, const shared_row& all, std::uint64_t begin, std::uint64_t end) {
        row part;
        part.reserve(end - begin);
        for (std::uint64_t i = begin; i != end; ++i) part.push_back(worked_on((*all)[i], steps));
        return caf::make_message(request, begin, std::move(part));
      },
      [=](done_atom) { self->quit(); },
  };
}

struct map_state {
  struct open_request {
    caf::response_promise answer;
    row whole;
    std::size_t missing = 0;
  };
  std::vector<caf::actor> workers;
  std::map<std::uint64_t, open_request> open;
  std::uint64_t next = 0;
};

// Answers a row with the row of its results.
inline caf::behavior map_accelerator(caf::stateful_actor<map_state>* self, std::size_t workers,
                                     std::uint64_t steps) {
  for (std::size_t i = 0; i < workers; ++i)
    self->state.workers.push_back(self->spawn<caf::detached>(map_worker, steps));
  return {
      [=](row& in) {
        auto& state = self->state;
        const std::uint64_t number = state.next++;
        auto& made = state.open[number];
        made.answer = self->make_response_promise();
        made.missing = state.workers.size();
        made.whole.resize(in.size());
        const auto all = std::make_shared<const row>(std::move(in));
        for (std::size_t w = 0; w < state.workers.size(); ++w)
          self->send(state.workers[w], number, all,
                     std::uint64_t{all->size() * w / state.workers.size()},
                     std::uint64_t{all->size() * (w + 1) / state.workers.size()});
        return made.answer;
      },
      [=](std::uint64_t number, std::uint64_t begin, const row& part) {
        auto& request = self->state.open[number];
        std::copy(part.begin(), part.end(),
                  request.whole.begin() + static_cast<std::ptrdiff_t>(begin));
        if (--request.missing != 0) return;
        request.answer.deliver(std::move(request.whole));
        self->state.open.erase(number);
      },
      [=](done_atom done) {
        for (const caf::actor& w : self->state.workers) self->send(w, done);
        self->quit();
      },
  };
}

}  // namespace bench
