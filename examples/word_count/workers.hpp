// The two roles without a state: a reader brings a unit into memory, a splitter takes the markup
// away and takes the rest apart into words.
//
// A reader answers by delegation: the splitter's answer goes straight to the foreman. A splitter
// answers when every counter has: its handler is a coroutine that waits for them without holding a
// thread. If any of them fails, the request ends with that error and the foreman sends the unit
// again.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <vector>

namespace word_count {

class reader_actor : public garrick::actor<reader_protocol> {
 public:
  reader_actor(std::vector<garrick::ref<splitter_protocol>> splitters, chaos* fate)
      : splitters_(std::move(splitters)), chaos_(fate) {}

  garrick::result<unit_done> on(const read_unit& u);

 private:
  std::vector<garrick::ref<splitter_protocol>> splitters_;
  std::size_t next_ = 0;
  chaos* chaos_;
};

class splitter_actor : public garrick::actor<splitter_protocol> {
 public:
  splitter_actor(std::vector<garrick::ref<counter_protocol>> counters, chaos* fate)
      : counters_(std::move(counters)), chaos_(fate) {}

  garrick::task<unit_done> on(split_unit u);

 private:
  std::vector<garrick::ref<counter_protocol>> counters_;
  chaos* chaos_;
};

}  // namespace word_count
