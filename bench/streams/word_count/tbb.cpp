// WordCount as oneTBB's pipeline. A token is a block of lines; lines are split in parallel, and one
// filter counts.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "streams/common/stretch.hpp"
#include "streams/word_count/words.hpp"

namespace {

using lines_block = std::vector<bench::line>;
using words_block = std::vector<bench::word>;
using counts_block = std::vector<bench::word_so_far>;

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t lines = args.number("lines", 100'000);
  const std::size_t size = args.count("block", 32);
  const std::size_t workers = args.count("threads", 2);

  const corpus text = make_corpus();
  seen_words found;
  const stretch all;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    std::uint64_t next = 0;
    word_counts counts;
    const auto read = [&](tbb::flow_control& flow) {
      lines_block read_lines;
      if (next == lines) {
        flow.stop();
        return read_lines;
      }
      const std::uint64_t end = std::min(lines, next + size);
      for (; next < end; ++next) read_lines.push_back(line{text[next % text.size()], 0});
      return read_lines;
    };
    const auto split_all = [](const lines_block& from) {
      words_block words;
      words.reserve(48 * from.size());
      for (const line& l : from)
        split(l.text, [&](const short_text& w) { words.push_back(word{w, l.stamp}); });
      return words;
    };
    const auto count = [&](const words_block& words) {
      counts_block counted;
      counted.reserve(words.size());
      for (const word& w : words) counted.push_back(counts.add(w));
      return counted;
    };
    const auto collect = [&](const counts_block& counted) {
      for (const word_so_far& w : counted) found.add(w);
    };
    constexpr auto in_order = tbb::filter_mode::serial_in_order;
    tbb::parallel_pipeline(
        4 * workers,
        tbb::make_filter<void, lines_block>(in_order, read) &
            tbb::make_filter<lines_block, words_block>(tbb::filter_mode::parallel, split_all) &
            tbb::make_filter<words_block, counts_block>(in_order, count) &
            tbb::make_filter<counts_block, void>(in_order, collect));
  }
  all.into(out, found.words);
  found.check(out, text, lines);
}
