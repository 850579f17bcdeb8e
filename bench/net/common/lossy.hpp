// Two ends of one program, with a link between them that loses and delays packets
// (tools/net/lossy_link.cpp). The program starts itself twice, each end in a network of its own.
//
//   const bench::lossy_end end = bench::lossy_ends(args);   // comes back in both ends
//   if (end.is_server()) …                                   // at 10.77.0.1; ended by a signal
//
// The parameters are `loss` and `duplicate` in percent, `delay_us` and `jitter_us` of each
// direction, `rate_kbits`, `queue` (packets) and `seed`.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "common/measure.hpp"

namespace bench {

// Which end this process is.
struct lossy_end {
  int number;

  bool is_server() const { return number == 1; }
  static const char* server_address() { return "10.77.0.1"; }
};

inline std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1)
    words.push_back(all.substr(at, all.find('\0', at) - at));
  return words;
}

// Does not return in the process that the harness has started: that becomes the link.
inline lossy_end lossy_ends(arguments& args) {
  std::vector<std::string> command{"",
                                   "--loss",
                                   args.text("loss", "0"),
                                   "--duplicate",
                                   args.text("duplicate", "0"),
                                   "--delay",
                                   args.text("delay_us", "0") + "us",
                                   "--jitter",
                                   args.text("jitter_us", "0") + "us",
                                   "--seed",
                                   std::to_string(args.number("seed", 1))};
  if (const auto rate = args.number("rate_kbits", 0); rate != 0) {
    command.insert(command.end(), {"--rate", std::to_string(rate) + "k"});
    command.insert(command.end(), {"--queue", std::to_string(args.number("queue", 50))});
  }
  if (const char* end = std::getenv("LOSSY_END")) return {std::atoi(end)};

  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
    arguments::fail("the path of this program is unknown");
  const std::string program = self;
  command[0] = program.substr(0, program.rfind('/') + 1) + "lossy_link";
  std::vector<std::string> own = own_command();
  own[0] = program;
  command.push_back("--");
  for (const char* number : {"1", "2"}) {
    command.insert(command.end(), {"env", std::string("LOSSY_END=") + number});
    command.insert(command.end(), own.begin(), own.end());
    if (number[0] == '1') command.push_back(":::");
  }
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(words[0], words.data());
  arguments::fail("cannot run " + command[0]);
}

// Reports the cost of losses, given the rounds' times and each direction's loss.
//
// `ms_per_loss` and `rounds_per_loss`: the time beyond usual rounds (the median), for each packet
// lost on the average, repetitions counted. `rounds_per_first_loss`: the median excess of rounds
// that took half a round more. Most of those have lost one packet once: a message and its answer
// are lost with the same probability, and few are lost twice. Rounds of less than a millisecond are
// late for other reasons as well, so it is left out there.
inline void tell_cost_of_loss(result& out, std::vector<std::int64_t> rounds, double percent) {
  double all = 0;
  for (const std::int64_t ns : rounds) all += static_cast<double>(ns);
  const auto count = static_cast<double>(rounds.size());
  std::sort(rounds.begin(), rounds.end());
  const auto usual = static_cast<double>(percentile(rounds, 0.5));
  const double p = percent / 100;
  const double lost = 2 * count * p / (1 - p);
  out.detail("round_us", usual / 1e3);
  if (count > 0) out.detail("mean_round_ms", all / count / 1e6);
  if (lost <= 0) return;
  out.detail("ms_per_loss", (all - usual * count) / lost / 1e6);
  out.detail("rounds_per_loss", (all / usual - count) / lost);
  if (usual < 1e6) return;
  const auto late = std::partition_point(rounds.begin(), rounds.end(), [&](std::int64_t ns) {
    return static_cast<double>(ns) < 1.5 * usual;
  });
  if (late == rounds.end()) return;
  const auto first = static_cast<double>(percentile({late, rounds.end()}, 0.5));
  out.detail("rounds_per_first_loss", first / usual - 1);
}

// The confirmed bytes of several flows in `ms`, after a second for the start. The share is that of
// the fastest flow. This thread sleeps meanwhile because the window is a stretch of real time: no
// event that could be waited for ends it, and the flows are other threads'.
inline void tell_goodput(result& out, std::uint64_t ms,
                         const std::vector<std::atomic<std::uint64_t>>& confirmed) {
  const auto now_of = [&] {
    std::vector<std::uint64_t> bytes;
    for (const auto& flow : confirmed)
      bytes.push_back(flow.load(std::memory_order_relaxed));  // order: a statistic
    return bytes;
  };
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::vector<std::uint64_t> before = now_of();
  const std::int64_t start = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  const std::vector<std::uint64_t> after = now_of();
  out.seconds = seconds_since(start);
  std::uint64_t all = 0, most = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) out.error("a flow has stopped");
    all += after[i] - before[i];
    most = std::max(most, after[i] - before[i]);
  }
  out.items = all;
  out.detail("mbits_per_second", static_cast<double>(all) * 8e-6 / out.seconds);
  out.detail("share_percent", 100.0 * static_cast<double>(most) / static_cast<double>(all));
}

}  // namespace bench
