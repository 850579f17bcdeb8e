// Counts words with supervised actors: walk, read, split, count by key, rank.
//
//   word_count                     the texts beside this source and the system's documentation
//   word_count ~/books --top 30
//   word_count --chaos             handlers of every role fail all the time, and the counts come out the same
#include "display.hpp"
#include "job.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

using namespace word_count;

enum exit_status { all_well = 0, no_result = 1, bad_arguments = 2 };

std::vector<std::string> default_paths() {
  std::vector<std::string> paths{WORD_COUNT_TEXTS};
  for (const char* path : {"/usr/share/doc", "/usr/share/common-licenses"}) {
    std::error_code trouble;
    if (std::filesystem::is_directory(path, trouble)) paths.emplace_back(path);
  }
  return paths;
}

void print_summary(const outcome& o, const settings& s, bool on_terminal) {
  std::fputs(problem_report(o.problems).c_str(), stdout);
  std::printf("\n%s\n", chart(o.words, s.top, !on_terminal || terminal_shows_utf8()).c_str());
  std::printf("files            %s\n", grouped(o.files).c_str());
  std::printf("bytes            %s (%s)\n", grouped(o.bytes).c_str(), as_bytes(o.bytes).c_str());
  std::printf("different words  %s\n", grouped(o.words.size()).c_str());
  std::printf("time             %.2f s\n", o.seconds);
  std::printf("messages         %s (%s a second)\n", grouped(o.messages).c_str(),
              grouped(static_cast<std::uint64_t>(static_cast<double>(o.messages) / o.seconds)).c_str());
  std::printf("peak memory      %s\n", as_bytes(peak_memory()).c_str());
}

void print_strikes(const outcome& o) {
  std::uint64_t sum = 0;
  std::string each;
  for (std::size_t r = 0; r < role_count; ++r) {
    sum += o.strikes[r];
    each += (r == 0 ? "" : ", ") + std::string(role_names[r]) + " " + grouped(o.strikes[r]);
  }
  std::printf("chaos            killed %s handlers in the middle of their work (%s)\n", grouped(sum).c_str(), each.c_str());
}

int verify(const outcome& o, const std::vector<std::string>& paths) {
  std::printf("verifying        counting again without actors ...\n");
  std::fflush(stdout);
  const std::string wrong = difference(o.words, count_sequentially(paths));
  if (!wrong.empty()) {
    std::printf("verified         NO: %s\n", wrong.c_str());
    return no_result;
  }
  std::printf("verified         all %s counts are exactly the same\n", grouped(o.words.size()).c_str());
  return all_well;
}

int count(const settings& s) {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  job what;
  what.paths = s.paths.empty() ? default_paths() : s.paths;
  what.workers = s.workers;
  what.seed = s.seed;
  what.chaos_every = s.chaos ? s.every : 0;
  what.display = on_terminal ? show::bar : show::lines;
  const outcome o = run(what);
  if (!o.trouble.empty()) {
    std::fprintf(stderr, "word_count: no result: %s\n", o.trouble.c_str());
    return no_result;
  }
  print_summary(o, s, on_terminal);
  if (s.chaos) print_strikes(o);
  if (o.files == 0) {
    std::fprintf(stderr, "word_count: there was no text to count\n");
    return no_result;
  }
  return s.chaos || s.verify ? verify(o, what.paths) : all_well;
}

}  // namespace

int main(int argc, char** argv) {
  const parsed arguments = parse({argv + 1, argv + argc});
  if (!arguments.trouble.empty()) {
    std::fprintf(stderr, "word_count: %s; --help lists the options\n", arguments.trouble.c_str());
    return bad_arguments;
  }
  if (arguments.values.help) {
    std::fputs(help_text().data(), stdout);
    return all_well;
  }
  try {
    return count(arguments.values);
  } catch (const std::exception& trouble) {
    std::fprintf(stderr, "word_count: %s\n", trouble.what());
    return no_result;
  }
}
