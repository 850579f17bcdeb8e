// WordCount as a pipeline of nodes. `--replicas n`: counters, each with words of its own. With
// `--rate n` the source puts out n lines a second, on a thread of its own.
#include <garrick/patterns/patterns.hpp>

#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

namespace {

using namespace garrick::patterns;
using bench::line;
using bench::word;
using bench::word_so_far;

struct source {
  std::shared_ptr<const bench::corpus> text;
  std::uint64_t end;
  bench::pace pace;
  std::uint64_t next = 0;
  bool operator()(emit<line> out) {
    if (next == end) return false;
    const std::int64_t stamp = pace.next();
    out(line{(*text)[next++ % text->size()], stamp});
    return true;
  }
};

class counter {
 public:
  word_so_far consume(word w) { return counts_.add(w); }

 private:
  bench::word_counts counts_;
};

class sink {
 public:
  explicit sink(bench::seen_words* seen) : seen_(seen) {}
  void consume(word_so_far w) { seen_->add(w); }

 private:
  bench::seen_words* seen_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 100'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const auto text = std::make_shared<const corpus>(make_corpus());
  const auto begin = seq(source{text, lines, pace(rate)});
  const auto splitter = seq([](line l, emit<word> words) {
    split(l.text, [&](const short_text& w) { words(word{w, l.stamp}); });
  });
  const auto counters = farm(seq<counter>()).replicas(replicas).by_key(&word::text);
  seen_words found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    auto h = spawn(system, pipeline(rate == 0 ? begin : begin.own_thread(), splitter, counters,
                                    seq<sink>(garrick::lent(&found))));
    system.request(h, join{}).get().value();
  });
  all.into(out, found.words, seconds);
  found.check(out, *text, lines);
}
