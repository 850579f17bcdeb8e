// Begins the stream that counts, and begins another one until every ledger holds every unit.
//
// The foreman holds no state that it could not get again: the walker knows all the work, and the
// ledgers know the finished part. So a new incarnation requests the plan and the units that each
// ledger holds (the audit), and begins a stream with the rest. The same audit follows the end of
// each stream, whatever ended it. It finds the tuples that struck stages dropped, the tuples of a
// stream that failed, and the units that a ledger lost when it was restored from its keeper's copy.
//
// Limits: each channel of the stream has room for `channel_capacity` tuples.
#pragma once

#include "chaos.hpp"
#include "stages.hpp"

#include <map>
#include <string>
#include <vector>

namespace word_count {

struct crew {
  garrick::ref<walker_protocol> walker;
  std::vector<garrick::ref<ledger_protocol>> ledgers;  ///< at most 64
  garrick::ref<ranker_protocol> ranker;
};

class foreman_actor : public garrick::actor<foreman_protocol> {
 public:
  foreman_actor(crew hands, chaos* fate) : crew_(std::move(hands)), chaos_(fate) {}

  void on_start();
  void on_exit(const garrick::exit_reason& why);
  garrick::result<finished> on(finish);
  progress on(how_far);
  void on(unread u);

 private:
  void start_audit();
  void ask(std::size_t part);
  void audit_done();
  void begin_stream(std::vector<open_unit> open);
  void stream_ended(const garrick::error& why);
  void start_ranking();
  void look_for_changes();
  void complete(std::vector<problem> changed);
  [[nodiscard]] bool gone_for_good(const garrick::error& why);

  static constexpr std::size_t channel_capacity = 16;

  // constant
  crew crew_;
  chaos* chaos_;

  phase phase_ = phase::finding;
  shared_plan plan_;
  /// files that became unreadable, with the reason
  std::map<std::string, std::string> unread_;
  std::vector<part_mask> lacking_;  ///< for each unit, the parts that do not hold it
  std::size_t audits_open_ = 0;
  std::uint64_t shares_open_ = 0;
  garrick::patterns::stream_ref<> stream_;  ///< while it runs
  finished result_;                         ///< once complete
  std::vector<garrick::response_promise<finished>> waiting_;
};

}  // namespace word_count
