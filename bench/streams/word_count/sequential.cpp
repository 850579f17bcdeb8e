// WordCount in one loop.
#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 100'000);
  pace schedule(args.number("rate", 0));

  const corpus text = make_corpus();
  seen_words found;
  word_counts counts;
  const stretch all;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::int64_t stamp = schedule.next();
    split(text[i % text.size()],
          [&](const short_text& w) { found.add(counts.add(word{w, stamp})); });
  }
  all.into(out, found.words);
  found.check(out, text, lines);
}
