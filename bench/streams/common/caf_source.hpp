// The source of the detections as a CAF actor: it sends `chunk` tuples and then a message to
// itself, so that it shares its thread with the others. In the end it tells each of `next` that it
// is done.
#pragma once

#include "common/caf_system.hpp"
#include "streams/common/feed.hpp"

namespace bench {

using next_atom = caf::atom_constant<caf::atom("next")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

// A tuple goes to the actor of its key, one of `next`.
template <class T>
caf::behavior keyed_source(caf::event_based_actor* self, const feed<T>& all, std::uint64_t chunk,
                           std::uint32_t T::* key, const std::vector<caf::actor>& next) {
  self->send(self, next_atom::value);
  return {
      [=, left = all](next_atom) mutable {
        for (std::uint64_t i = 0; i < chunk && !left.ended(); ++i) {
          const T tuple = left.next();
          self->send(next[tuple.*key % next.size()], tuple);
        }
        if (!left.ended()) return self->send(self, next_atom::value);
        for (const caf::actor& n : next) self->send(n, done_atom::value);
        self->quit();
      },
  };
}

}  // namespace bench
