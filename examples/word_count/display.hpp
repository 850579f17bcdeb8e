// Shows the foreman's progress, and the speed of the stages of its stream: a line that changes on a
// terminal, or a new line from time to time elsewhere.
#pragma once

#include "chaos.hpp"
#include "job.hpp"
#include "protocols.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

struct tick {};
using display_protocol = garrick::protocol<void(tick)>;

/// Returns the rate of each reading stage between two reports, such as "split 3 200".
[[nodiscard]] std::vector<std::string> rate_texts(const garrick::patterns::stream_report& before,
                                                  const garrick::patterns::stream_report& now,
                                                  garrick::duration between);

/// Returns one line of text, narrower than `columns`: "counting [██▌ ] 45 % of 12 files split 90
/// /s". Rates that do not fit are left out, and then the bar.
[[nodiscard]] std::string progress_line(const progress& p, const std::vector<std::string>& rates,
                                        std::size_t columns, bool utf8);

/// Clears the line that changes.
void clear_line();

class display_actor : public garrick::actor<display_protocol> {
 public:
  display_actor(garrick::ref<progress_protocol> foreman, show how, chaos* fate)
      : foreman_(std::move(foreman)), how_(how), chaos_(fate) {}

  void on_start();
  void on(tick);

 private:
  void draw(progress p, const garrick::patterns::stream_report& stream);

  garrick::ref<progress_protocol> foreman_;
  show how_;
  chaos* chaos_;
  bool utf8_ = terminal_shows_utf8();
  std::uint64_t last_tenth_ = 0;
  garrick::patterns::stream_report before_;  ///< the work of the stages at the last tick
  garrick::instant looked_{};                ///< the time of the last tick
};

}  // namespace word_count
