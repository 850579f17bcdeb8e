// Counts the visible words of texts, with a stream of stages among supervised actors: walk, read,
// split, count by key, rank.
//
//   word_count                     the texts beside this source and the system's documentation
//   word_count ~/books --top 30
//   word_count --chaos             handlers of every role fail all the time, and the counts are the
//                                  same
//   word_count --nodes 3           three processes count; with --chaos one of them is killed
#include "job.hpp"
#include "nodes/counting_node.hpp"
#include "nodes/node_processes.hpp"
#include "nodes/over_nodes.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

/// The folder of the texts beside this source. A separate source defines it, so that a compiler
/// cache works for clones in other folders.
extern const char* const word_count_texts;

namespace {

using namespace word_count;

enum exit_status { all_well = 0, no_result = 1, bad_arguments = 2 };

std::vector<std::string> default_paths() {
  std::vector<std::string> paths{word_count_texts};
  for (const char* path : {"/usr/share/doc", "/usr/share/common-licenses"}) {
    std::error_code trouble;
    if (std::filesystem::is_directory(path, trouble)) paths.emplace_back(path);
  }
  return paths;
}

/// Returns lines "path: why", but not too many.
std::vector<std::string> listed(const std::vector<problem>& problems) {
  constexpr std::size_t most = 10;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(problems.size(), most); ++i)
    lines.push_back(printable(problems[i].path) + ": " + problems[i].why);
  if (problems.size() > most) lines.push_back("and " + grouped(problems.size() - most) + " more");
  return lines;
}

/// Reports the reasons why no file could be read.
int nothing_to_count(const outcome& o) {
  std::fputs("word_count: there was no text to count\n", stderr);
  for (const std::string& line : listed(o.what->problems))
    std::fprintf(stderr, "  %s\n", line.c_str());
  return no_result;
}

// Counts again, file by file and without actors, and compares. Files that have changed since cannot
// be compared.
int verify(const outcome& o) {
  std::fputs(labelled("verifying", {"counting again without actors ..."}).c_str(), stdout);
  std::fflush(stdout);
  const std::string wrong = difference(o.words, count_sequentially(o.what->files));
  if (wrong.empty()) {
    std::fputs(
        labelled("verified", {"all " + grouped(o.words.size()) + " counts are exactly the same"})
            .c_str(),
        stdout);
    return all_well;
  }
  const std::vector<problem> changed = changes(*o.what);
  std::vector<std::string> lines{"NO: " + wrong};
  if (!changed.empty()) {
    lines = listed(changed);
    lines.insert(lines.begin(), "NO, these files changed meanwhile:");
    lines.push_back(wrong);
  }
  std::fputs(labelled("verified", lines).c_str(), stdout);
  return no_result;
}

int count(const settings& s, const char* program) {
  const bool on_terminal = isatty(STDOUT_FILENO) != 0;
  const bool utf8 = terminal_shows_utf8();
  job what;
  what.paths = s.paths.empty() ? default_paths() : s.paths;
  what.workers = s.workers;
  what.seed = s.seed;
  what.chaos_every = s.chaos ? s.every : 0;
  what.display = on_terminal ? show::bar : show::lines;
  const outcome o = s.nodes == 0 ? run(what) : run_over_nodes(what, s.nodes, this_program(program));
  if (!o.trouble.empty()) {
    std::fprintf(stderr, "word_count: %s; the counts are incomplete and are not shown\n",
                 o.trouble.c_str());
    return no_result;
  }
  if (o.what->files.empty()) return nothing_to_count(o);
  if (!o.words.empty())
    std::fputs((chart(o.words, s.top, utf8) + "\n" + length_chart(o.words, utf8) + "\n").c_str(),
               stdout);
  std::fputs(summary(o).c_str(), stdout);
  if (s.chaos && s.nodes == 0) std::fputs(strike_report(o).c_str(), stdout);
  return s.chaos || s.verify ? verify(o) : all_well;
}

// Flushes the output. Returns `status`, or an error status if this or an earlier write has failed.
int finished_with(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr,
               "word_count: standard output cannot be written%s%s; the result is incomplete\n",
               errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  return no_result;
}

constexpr const char* no_memory = "word_count: not enough memory; the result is incomplete\n";

[[noreturn]] void end_without_memory() {
  static_cast<void>(::write(STDERR_FILENO, no_memory, std::strlen(no_memory)) < 0);
  ::_exit(no_result);
}

std::terminate_handler usual_end = nullptr;

// If the system itself needs memory or a thread that it cannot get, there is no caller to throw to,
// and the process terminates.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr what = std::current_exception()) std::rethrow_exception(what);
  } catch (const std::bad_alloc&) { end_without_memory(); } catch (const std::system_error&) {
    end_without_memory();
  } catch (...) {
    // an error in the program: the usual handler reports it, and aborts
  }
  usual_end();
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  usual_end = std::set_terminate(on_terminate);
  node_arguments node;
  const bool is_node = node.read({argv + 1, argv + argc});
  const parsed arguments = is_node ? parsed{} : parse({argv + 1, argv + argc});
  if (!arguments.trouble.empty()) {
    std::fprintf(stderr, "word_count: %s; --help lists the options\n", arguments.trouble.c_str());
    return bad_arguments;
  }
  if (arguments.values.help) {
    std::fputs(help_text().data(), stdout);
    return finished_with(all_well);
  }
  try {
    if (is_node) return be_a_node(node);
    return finished_with(count(arguments.values, argv[0]));
  } catch (const std::bad_alloc&) {
    std::fputs(no_memory, stderr);
    return no_result;
  } catch (const std::exception& trouble) {
    std::fprintf(stderr, "word_count: %s; the result is incomplete\n", trouble.what());
    return no_result;
  }
}
