#include "garrick/net/testkit/dialogue.hpp"

#include <iterator>
#include <memory>
#include <utility>

#include "garrick/net/testkit/internal/checked_program.hpp"

namespace garrick::net::testkit {
namespace {

using base::duration;
using internal::soon;

/// Both hosts ask each other.
struct talk final : internal::checked_program<question_checker, dialogue_settings> {
  talk(simulated_network& n, const stack_kind& k, const dialogue_settings& given)
      : checked_program(n, "dialogue", k, given, given.questions) {}
  std::shared_ptr<internal::program_session> make(simulated_host& h, std::unique_ptr<endpoint> e,
                                                  bool connects) override;
  duration pause(bool connects) override {
    // A host without questions left still answers, and looks after its links.
    return left[connects ? 0 : 1] == 0 ? soon * 4 : up_to(s.between * 2);
  }
  void act(internal::program_session& by, bool newest, bool connects) override;
  void ask(talking_end& end, std::uint32_t& to_ask);
  void answer(talking_end& end);
};

/// A link by which both ends ask.
class asking_session final : public internal::checked_session<talk, talking_end> {
 public:
  asking_session(talk& all, simulated_host& h, std::unique_ptr<endpoint> e, bool connects)
      : checked_session(all, std::move(e), all.next_name(h), [&h] { return h.now(); }) {
    const std::uint64_t seed = all.random();
    hold(h, connects, seed, seed);
  }
  void begin() override {
    end_.set_listener([this](const link_event& e) { hear(e, false); });
    drive();
  }
  [[nodiscard]] bool may_talk() const { return is_opened() && end_.can_ask(); }
  [[nodiscard]] talking_end& end() noexcept { return end_; }
};

std::shared_ptr<internal::program_session> talk::make(simulated_host& h,
                                                      std::unique_ptr<endpoint> e, bool connects) {
  return std::make_shared<asking_session>(*this, h, std::move(e), connects);
}

void talk::act(internal::program_session& by, bool newest, bool connects) {
  asking_session& one = static_cast<asking_session&>(by);
  if (!one.may_talk()) return;
  for (std::uint32_t n = random.below(3); n != 0; --n) answer(one.end());
  std::uint32_t& to_ask = left[connects ? 0 : 1];
  if (!newest || to_ask == 0) return;
  ask(one.end(), to_ask);
  if (random.below(10) == 0 && one.may_talk()) one.end().cancel_one();
  if (random.below(20) == 0 && one.may_talk()) one.end().send_no_frame();
}

void talk::ask(talking_end& end, std::uint32_t& to_ask) {
  if (!end.can_ask()) return;
  constexpr frame_kind kinds[] = {frame_kind::request, frame_kind::request, frame_kind::request,
                                  frame_kind::resolve, frame_kind::spawn};
  const frame_kind kind_of_this = kinds[random.below(5)];
  // Most questions are small, and some have any size that the stack takes.
  const auto largest = static_cast<std::uint32_t>(kind.largest);
  const std::uint32_t size = random.below(random.below(8) == 0 ? largest + 1 : 64);
  // Some limits are shorter than an answer takes.
  const bool has_limit = random.below(2) == 0;
  const duration limit =
      has_limit ? up_to(random.below(4) == 0 ? soon * 4 : s.limit) : duration::infinite();
  end.ask(kind_of_this, random.below(static_cast<std::uint32_t>(s.pairs)), size, limit);
  --to_ask;
}

void talk::answer(talking_end& end) {
  if (end.to_answer() == 0) return;
  constexpr reply ways[] = {reply::refusal, reply::twice, reply::for_another, reply::unasked,
                            reply::none};
  const std::uint32_t way = random.below(20);
  end.answer_one(way < std::size(ways) ? ways[way] : reply::right);
}

}  // namespace

dialogue_result dialogue(simulated_network& net, const stack_kind& kind,
                         const dialogue_settings& s) {
  const auto all = std::make_shared<talk>(net, kind, s);
  internal::run_checked(net, all);
  const dialogue_result result{all->checker.seen(), all->downs};
  internal::end_on_two_hosts(net);
  return result;
}

}  // namespace garrick::net::testkit
