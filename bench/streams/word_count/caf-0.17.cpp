// WordCount as actors. The source sends `--chunk n` lines and then a message to itself, so that it
// shares its thread with the others. `--replicas n`: counters. With `--rate n` the source sends n
// lines a second, on a thread of its own.
#include "common/caf_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::line)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::word)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::word_so_far)

namespace {

using bench::line;
using bench::word;
using bench::word_so_far;
using next_atom = caf::atom_constant<caf::atom("next")>;
using done_atom = caf::atom_constant<caf::atom("done")>;

caf::behavior sink(caf::event_based_actor* self, std::size_t counters, bench::seen_words* seen) {
  return {
      [=](const word_so_far& w) { seen->add(w); },
      [=, open = counters](done_atom) mutable {
        if (--open == 0) self->quit();
      },
  };
}

caf::behavior counter(caf::stateful_actor<bench::word_counts>* self, const caf::actor& next) {
  return {
      [=](const word& w) { self->send(next, self->state.add(w)); },
      [=](done_atom) {
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

caf::behavior splitter(caf::event_based_actor* self, const std::vector<caf::actor>& next) {
  return {
      [=](const line& l) {
        bench::split(l.text, [&](const bench::short_text& text) {
          const word w{text, l.stamp};
          const std::size_t which = bench::counter_of(w, next.size());
          self->send(next[which], w);
        });
      },
      [=](done_atom) {
        for (const caf::actor& n : next) self->send(n, done_atom::value);
        self->quit();
      },
  };
}

caf::behavior source(caf::event_based_actor* self, const bench::corpus* text, std::uint64_t lines,
                     std::uint64_t rate, std::uint64_t chunk, const caf::actor& next) {
  self->send(self, next_atom::value);
  return {
      [=, sent = std::uint64_t{0}, pace = bench::pace(rate)](next_atom) mutable {
        for (std::uint64_t i = 0; i < chunk && sent < lines; ++i, ++sent) {
          const std::int64_t stamp = pace.next();
          self->send(next, line{(*text)[sent % text->size()], stamp});
        }
        if (sent != lines) return self->send(self, next_atom::value);
        self->send(next, done_atom::value);
        self->quit();
      },
  };
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 10'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::uint64_t chunk = args.count("chunk", 100);
  const std::size_t replicas = args.count("replicas", 1);

  const corpus text = make_corpus();
  seen_words found;
  const stretch all;
  const double seconds = run_system(args, [&](caf::actor_system& system) {
    {
      const caf::actor last = system.spawn(sink, replicas, &found);
      std::vector<caf::actor> counters;
      for (std::size_t i = 0; i < replicas; ++i) counters.push_back(system.spawn(counter, last));
      const caf::actor first = system.spawn(splitter, counters);
      if (rate == 0)
        system.spawn(source, &text, lines, rate, chunk, first);
      else
        system.spawn<caf::detached>(source, &text, lines, rate, chunk, first);
    }
    system.await_all_actors_done();
  });
  all.into(out, found.words, seconds);
  found.check(out, text, lines);
}
