// The common part of all benchmark programs: parameters of the command line, a clock, resident
// memory, and the line of JSON that the harness reads. A program defines `bench::run`, which the
// common main (main.cpp) calls. Standard library only and C++17, so that any peer's program can use
// it.
//
// Thread safety: none; a program uses it from its main thread. `now_ns` may be called on any
// thread.
#pragma once

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// The `--name value` pairs. A name that the program has not read ends it with an error: a misspelt
// parameter must not silently change the measurement.
class arguments {
 public:
  arguments(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (name.size() < 3 || name.compare(0, 2, "--") != 0 || i + 1 >= argc)
        fail("expected --name value, found '" + name + "'");
      pairs_.push_back({name.substr(2), argv[i + 1], false});
    }
  }
  arguments(const arguments&) = delete;
  arguments& operator=(const arguments&) = delete;
  arguments(arguments&&) = delete;
  arguments& operator=(arguments&&) = delete;
  ~arguments() = default;

  // Returns a number. A value outside [least, most] ends the program with an error, too.
  std::uint64_t number(const char* name, std::uint64_t fallback, std::uint64_t least = 0,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    pair* found = find(name);
    if (found == nullptr) return fallback;
    char* end = nullptr;
    errno = 0;
    const std::uint64_t value = std::strtoull(found->value.c_str(), &end, 0);
    if (end == found->value.c_str() || *end != '\0' || found->value[0] == '-' || errno != 0)
      fail("--" + found->name + " needs a number, found '" + found->value + "'");
    if (value < least || value > most)
      fail("--" + found->name + " is " + found->value + "; allowed are " + std::to_string(least) +
           " to " + std::to_string(most));
    return value;
  }
  // Returns a number of at least 1.
  std::uint32_t count(const char* name, std::uint32_t fallback) {
    return static_cast<std::uint32_t>(
        number(name, fallback, 1, std::numeric_limits<std::uint32_t>::max()));
  }

  std::string text(const char* name, const char* fallback) {
    pair* found = find(name);
    return found == nullptr ? std::string(fallback) : found->value;
  }

  // Ends the program if a parameter has not been read. The main calls it at the end; a program
  // calls it before a long measurement.
  void reject_unknown() const {
    for (const pair& p : pairs_) {
      if (!p.used) fail("unknown parameter --" + p.name);
    }
  }

  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "bench: %s\n", what.c_str());
    std::exit(2);
  }

 private:
  struct pair {
    std::string name;
    std::string value;
    bool used;
  };

  pair* find(const char* name) {
    for (pair& p : pairs_) {
      if (p.name == name) {
        p.used = true;
        return &p;
      }
    }
    return nullptr;
  }

  std::vector<pair> pairs_;
};

inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) * 1e-9;
}

// Returns the processor time of this process so far, user and system together.
inline double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

// Returns the resident bytes of this process. Reads the file with plain calls, since a stream would
// allocate between two readings.
inline std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Returns the value below which the share `q` of the sorted samples lies (nearest rank).
inline std::int64_t percentile(const std::vector<std::int64_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

// Returns the text as a string of JSON.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') result += '\\';
    result += c == '\n' ? 'n' : c;
  }
  return result + "\"";
}

// The result of a run; `print` writes the line. The check is "ok" only if every `expect` held and
// there was no `error`.
class result {
 public:
  double seconds = 0;
  std::uint64_t items = 0;

  void expect(const char* what, std::uint64_t expected, std::uint64_t found) {
    if (expected == found) return;
    check_ += (check_.empty() ? "" : "; ") + std::string(what) + ": expected " +
              std::to_string(expected) + ", found " + std::to_string(found);
  }
  // Records an error other than a wrong number; an empty text is no error.
  void error(const std::string& text) {
    if (!text.empty()) check_ += (check_.empty() ? "" : "; ") + text;
  }
  void resident(std::uint64_t bytes) { add("rss_bytes", std::to_string(bytes)); }
  void cpu(double seconds_used) { add("cpu_seconds", number(seconds_used)); }

  void percent(double value) { add("percent", number(value)); }

  // Adds a further figure of this run. The report shows it; the workload's description may have it
  // plotted or judged.
  void detail(const char* name, double value) {
    details_ += (details_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + number(value);
  }

  // Adds latencies in nanoseconds, which are reported as mean and percentiles.
  void latencies(std::vector<std::int64_t> samples) {
    std::sort(samples.begin(), samples.end());
    double sum = 0;
    for (const std::int64_t s : samples) sum += static_cast<double>(s);
    std::string object =
        "{\"mean\":" + number(samples.empty() ? 0 : sum / static_cast<double>(samples.size()));
    for (const auto& [name, q] :
         {std::pair{"p50", 0.5}, std::pair{"p99", 0.99}, std::pair{"p999", 0.999}}) {
      object += ",\"" + std::string(name) + "\":" + std::to_string(percentile(samples, q));
    }
    add("latencies", object + "}");
  }

  // Adds figures to the report, as `json_of` (curves.hpp) writes them.
  void figures(const std::string& json) { add("figures", json); }

  // Adds lines to the report, which shows them unchanged, such as a table.
  void lines(const std::string& title, const std::string& text) {
    add("lines", "{\"title\":" + quoted(title) + ",\"text\":" + quoted(text) + "}");
  }

  // Prints the result. Returns the exit status for main: 0 if all checks held.
  [[nodiscard]] int print() const {
    const std::string check = check_.empty() ? "ok" : check_;
    const std::string details = details_.empty() ? "" : ",\"details\":{" + details_ + "}";
    std::printf("{\"seconds\":%s,\"items\":%llu,\"check\":\"%s\"%s%s}\n", number(seconds).c_str(),
                static_cast<unsigned long long>(items), check.c_str(), extra_.c_str(),
                details.c_str());
    if (std::fflush(stdout) != 0)
      arguments::fail("the result cannot be written to standard output");
    return check_.empty() ? 0 : 1;
  }

 private:
  static std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9f", value);
    return text;
  }
  void add(const char* name, const std::string& value) {
    extra_ += ",\"" + std::string(name) + "\":" + value;
  }

  std::string check_;
  std::string extra_;
  std::string details_;
};

// The measurement, which each program defines: reads the parameters, runs once, and fills in the
// result with its checks. An exception ends the program with status 2.
void run(arguments& args, result& out);

}  // namespace bench
