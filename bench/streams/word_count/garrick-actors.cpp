// WordCount as plain actors. `--replicas n`: counters, each with words of its own. With `--rate n`
// the source sends n lines a second, on a thread of its own.
#include "common/garrick_system.hpp"
#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

namespace {

using bench::line;
using bench::word;
using bench::word_so_far;
using garrick::actor;
using garrick::protocol;
using garrick::ref;

class sink : public actor<protocol<void(word_so_far)>> {
 public:
  explicit sink(bench::seen_words* seen) : seen_(seen) {}
  void on(const word_so_far& w) { seen_->add(w); }

 private:
  bench::seen_words* seen_;
};

class counter : public actor<protocol<void(word)>> {
 public:
  explicit counter(ref<protocol<void(word_so_far)>> next) : next_(std::move(next)) {}
  void on(const word& w) { send(next_, counts_.add(w)); }

 private:
  ref<protocol<void(word_so_far)>> next_;
  bench::word_counts counts_;
};

class splitter : public actor<protocol<void(line)>> {
 public:
  explicit splitter(std::vector<ref<protocol<void(word)>>> next) : next_(std::move(next)) {}
  void on(const line& l) {
    bench::split(l.text, [&](const bench::short_text& text) {
      const word w{text, l.stamp};
      const std::size_t which = bench::counter_of(w, next_.size());
      send(next_[which], w);
    });
  }

 private:
  std::vector<ref<protocol<void(word)>>> next_;
};

struct produce {
  std::uint64_t lines;
};

class source : public actor<protocol<void(produce)>> {
 public:
  source(std::shared_ptr<const bench::corpus> text, std::uint64_t rate,
         ref<protocol<void(line)>> next)
      : text_(std::move(text)), pace_(rate), next_(std::move(next)) {}
  void on(produce p) {
    for (std::uint64_t i = 0; i < p.lines; ++i) {
      const std::int64_t stamp = pace_.next();
      send(next_, line{(*text_)[i % text_->size()], stamp});
    }
  }

 private:
  std::shared_ptr<const bench::corpus> text_;
  bench::pace pace_;
  ref<protocol<void(line)>> next_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 20'000);
  const std::uint64_t rate = args.number("rate", 0);
  const std::size_t replicas = args.count("replicas", 1);

  const auto text = std::make_shared<const corpus>(make_corpus());
  seen_words found;
  const stretch all;
  const double seconds = run_system(args, [&](garrick::actor_system& system) {
    {
      const auto last = system.spawn<sink>(garrick::lent(&found));
      std::vector<ref<protocol<void(word)>>> counters;
      for (std::size_t i = 0; i < replicas; ++i) counters.push_back(system.spawn<counter>(last));
      garrick::spawn_options o;
      o.detached = rate != 0;
      send(system.spawn<source>(o, text, rate, system.spawn<splitter>(std::move(counters))),
           produce{lines});
    }
    static_cast<void>(system.await_all());
  });
  all.into(out, found.words, seconds);
  found.check(out, *text, lines);
}
