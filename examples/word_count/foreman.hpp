// Hands out the units, and does not rest until every counter holds every unit.
//
// The foreman keeps nothing that it could not find out again: what there is to do is known to the
// walker, and what is done is known to the counters. So a new incarnation asks for the plan, asks
// the counters which units they hold (the audit), and goes on with the rest. The same audit comes
// after the last unit: it finds what a counter lost when it fell back to its keeper's copy.
//
// Limits: `in_flight_limit` units are under way at a time.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <map>
#include <string>
#include <vector>

namespace word_count {

struct crew {
  garrick::ref<walker_protocol> walker;
  std::vector<garrick::ref<reader_protocol>> readers;
  std::vector<garrick::ref<counter_protocol>> counters;
  garrick::ref<ranker_protocol> ranker;
};

class foreman_actor : public garrick::actor<foreman_protocol> {
 public:
  foreman_actor(crew hands, chaos* fate) : crew_(std::move(hands)), chaos_(fate) {}

  void on_start();
  garrick::result<finished> on(finish);
  progress on(how_far);

 private:
  void start_audit();
  void ask(std::size_t part);
  void audit_done();
  void hand_out();
  void send_unit(std::uint32_t unit);
  void start_ranking();
  void look_for_changes();
  void complete(std::vector<problem> changed);
  [[nodiscard]] bool gone_for_good(const garrick::error& why);

  static constexpr std::size_t in_flight_limit = 64;

  // constant
  crew crew_;
  chaos* chaos_;

  phase phase_ = phase::finding;
  shared_plan plan_;
  /// files that a reader could not read any more, and why
  std::map<std::string, std::string> unread_;
  std::vector<part_mask> lacking_;   ///< by unit: the parts that do not hold it
  std::vector<std::uint32_t> open_;  ///< units to hand out, last first
  std::size_t in_flight_ = 0;
  std::size_t audits_open_ = 0;
  std::size_t units_done_ = 0;
  std::size_t next_reader_ = 0;
  finished result_;  ///< once complete
  std::vector<garrick::response_promise<finished>> waiting_;
};

}  // namespace word_count
