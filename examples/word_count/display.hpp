// Shows how far the foreman is: a bar that moves on a terminal, a line now and then elsewhere.
#pragma once

#include "chaos.hpp"
#include "job.hpp"
#include "protocols.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>

namespace word_count {

struct tick {};
using display_protocol = garrick::protocol<void(tick)>;

/// One line of text: "counting  ████▌...   45 % of 12 files"; without a bar if `width` is 0.
[[nodiscard]] std::string progress_line(const progress& p, std::size_t width, bool utf8);

class display_actor : public garrick::actor<display_protocol> {
 public:
  display_actor(garrick::ref<foreman_protocol> foreman, show how, chaos* fate)
      : foreman_(std::move(foreman)), how_(how), chaos_(fate) {}

  void on_start();
  void on(tick);

 private:
  void draw(const progress& p);

  garrick::ref<foreman_protocol> foreman_;
  show how_;
  chaos* chaos_;
  bool utf8_ = terminal_shows_utf8();
  std::uint64_t last_tenth_ = 0;
};

}  // namespace word_count
