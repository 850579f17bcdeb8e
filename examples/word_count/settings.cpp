#include "settings.hpp"

#include <garrick/garrick.hpp>

#include <charconv>
#include <limits>
#include <optional>

namespace word_count {

namespace {

constexpr std::uint32_t most_nodes = 64;

template <class Number>
std::string take_number(std::string_view option, std::optional<std::string_view> text, Number least,
                        Number& into, Number most = std::numeric_limits<Number>::max()) {
  const std::string needed = std::string(option) + " needs a number from " + std::to_string(least) +
                             " to " + std::to_string(most);
  if (!text) return needed;
  Number value{};
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (code != std::errc{} || end != text->data() + text->size() || value < least || value > most)
    return needed + ", not '" + std::string(*text) + "'";
  into = value;
  return {};
}

class reader {
 public:
  explicit reader(const std::vector<std::string_view>& arguments) : arguments_(arguments) {}

  parsed read() {
    while (at_ < arguments_.size() && result_.trouble.empty()) take(arguments_[at_++]);
    return std::move(result_);
  }

 private:
  void take(std::string_view argument) {
    settings& s = result_.values;
    if (argument.empty()) {
      result_.trouble = "a path is empty";
      return;
    }
    if (only_paths_ || argument.size() < 2 || argument.front() != '-') {
      s.paths.emplace_back(argument);
      return;
    }
    if (argument == "--") {
      only_paths_ = true;
      return;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const bool attached = equals != std::string_view::npos;
    const auto value = [&]() -> std::optional<std::string_view> {
      if (attached) return argument.substr(equals + 1);
      if (at_ < arguments_.size()) return arguments_[at_++];
      return std::nullopt;
    };
    const bool is_switch =
        name == "--chaos" || name == "--verify" || name == "--help" || name == "-h";
    if (is_switch && attached) {
      result_.trouble = std::string(name) + " takes no value";
    } else if (name == "--chaos") {
      s.chaos = true;
    } else if (name == "--verify") {
      s.verify = true;
    } else if (name == "--help" || name == "-h") {
      s.help = true;
    } else if (name == "--top") {
      result_.trouble = take_number<std::uint32_t>(name, value(), 1, s.top);
    } else if (name == "--seed") {
      result_.trouble = take_number<std::uint64_t>(name, value(), 0, s.seed);
    } else if (name == "--workers") {
      result_.trouble =
          take_number<std::uint32_t>(name, value(), 1, s.workers, garrick::sched::most_workers);
    } else if (name == "--nodes") {
      result_.trouble = take_number<std::uint32_t>(name, value(), 1, s.nodes, most_nodes);
    } else if (name == "--every") {
      result_.trouble = take_number<std::uint32_t>(name, value(), 10, s.every);
    } else {
      result_.trouble = "there is no option " + std::string(name);
    }
  }

  const std::vector<std::string_view>& arguments_;
  std::size_t at_ = 0;
  bool only_paths_ = false;
  parsed result_;
};

}  // namespace

parsed parse(const std::vector<std::string_view>& arguments) { return reader(arguments).read(); }

std::string_view help_text() noexcept {
  return "word_count [PATH...] [OPTION...]           (./dev demo passes all of this on)\n"
         "Counts the words of every text file at or below the paths with a stream of\n"
         "stages among supervised actors. Without a path: the texts beside this program's\n"
         "source and the system's documentation.\n"
         "\n"
         "  --chaos       let actors and stages of every role fail at random while the\n"
         "                work goes on, then count again without actors and compare\n"
         "  --every N     with --chaos: about one of N places fails (at least 10, default\n"
         "                250; below 100, many files take minutes: work is undone as\n"
         "                fast as it is done)\n"
         "  --seed N      of the chaos (default 1)\n"
         "  --nodes N     count in N processes (1 to 64): this one starts the others and\n"
         "                gives them parts of the texts; --chaos kills one of them\n"
         "  --verify      count again without actors and compare, chaos or not\n"
         "  --top N       rows of the chart (1 to 4294967295, default 10)\n"
         "  --workers N   threads that run actors (1 to 1024, default: one per core)\n"
         "  -h, --help    this text\n"
         "  --            only paths follow\n"
         "\n"
         "A word is a run of letters with apostrophes inside, at most 48 bytes long. Of\n"
         "HTML, XML and SVG the words between the markup count: no tags, comments, scripts\n"
         "and styles; entities are read as their characters. Web addresses and paths of\n"
         "files are not read as words. Links below a path are not followed. Paths that\n"
         "cannot be read, binary files, and files that change during the run are reported.\n"
         "\n"
         "An empty path is a wrong argument, and a folder without a file is reported.\n"
         "\n"
         "Exit status: 0 all went well; 1 nothing could be counted, or the second count\n"
         "differs; 2 the arguments are wrong.\n";
}

}  // namespace word_count
