#include "garrick/net/testkit/dialogue.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "garrick/net/testkit/internal/two_hosts.hpp"

namespace garrick::net::testkit {
namespace {

using base::duration;

constexpr duration soon = duration::milliseconds(5);

/// Both hosts ask each other.
struct talk final : internal::two_host_program {
  talk(simulated_network& n, const stack_kind& k, const dialogue_settings& given)
      : two_host_program(n, "dialogue"), kind(k), s(given), checker(k.promises) {}
  std::shared_ptr<internal::program_session> make(simulated_host& h, std::unique_ptr<endpoint> e,
                                                  bool connects) override;
  duration pause(bool connects) override {
    // Who has nothing to ask still answers, and looks after its links.
    return left[connects ? 0 : 1] == 0 ? soon * 4 : up_to(s.between * 2);
  }
  void act(internal::program_session& by, bool newest, bool connects) override;
  void ask(talking_end& end, std::uint32_t& to_ask);
  void answer(talking_end& end);

  const stack_kind& kind;
  const dialogue_settings& s;
  question_checker checker;
  std::uint32_t ends = 0;
  std::uint32_t left[2] = {s.questions, s.questions};  ///< to be asked by "a" and "b"
  std::size_t downs = 0;
  std::string why;  ///< the last of them went down
};

/// A link with its endpoint.
class session final : public internal::program_session {
 public:
  session(talk& all, simulated_host& h, std::unique_ptr<endpoint> e, bool connects)
      : all_(all),
        endpoint_(std::move(e)),
        end_(all.checker,
             h.name() + "." + std::to_string(h.lives() + 1) + "." + std::to_string(++all.ends),
             [&h] { return h.now(); }) {
    const std::uint64_t seed = all.random();
    end_.hold(all.kind.make(end_, *endpoint_, {h.name(), h.lives() + 1, connects, seed, seed}));
  }
  void begin() override {
    end_.set_listener([this](const link_event& e) { hear(e); });
    endpoint_->drive(end_.below());
  }
  [[nodiscard]] bool is_down() const override { return end_.is_down(); }
  [[nodiscard]] bool may_talk() const { return opened_ && end_.can_ask(); }
  [[nodiscard]] talking_end& end() noexcept { return end_; }

 private:
  void hear(const link_event& e) {
    if (e.what == link_event::kind::opened) opened_ = true;
    if (e.what != link_event::kind::down || !opened_) return;
    ++all_.downs;
    all_.why = e.why.to_string();
  }

  talk& all_;
  std::unique_ptr<endpoint> endpoint_;
  talking_end end_;  ///< holds the link, so it goes before the endpoint
  bool opened_ = false;
};

std::shared_ptr<internal::program_session> talk::make(simulated_host& h,
                                                      std::unique_ptr<endpoint> e, bool connects) {
  return std::make_shared<session>(*this, h, std::move(e), connects);
}

void talk::act(internal::program_session& by, bool newest, bool connects) {
  session& one = static_cast<session&>(by);
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
  // Small ones mostly, some as large as may be.
  const auto largest = static_cast<std::uint32_t>(kind.largest);
  const std::uint32_t size = random.below(random.below(8) == 0 ? largest + 1 : 64);
  // Some have less time than an answer takes.
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
  internal::begin_on_two_hosts(net, all, kind.streams, s.path, s.faults);
  const auto check = [&] {
    net.require(all->checker.violation().empty(), kind.name + ": " + all->checker.violation());
    net.require(s.may_go_down || all->downs == 0, kind.name + ": a link went down: " + all->why);
  };
  const auto is_broken = [&] {
    return !all->checker.violation().empty() || (all->downs != 0 && !s.may_go_down);
  };
  const duration needed = s.between * (4 * static_cast<std::int64_t>(s.questions));
  net.run_until(is_broken, std::max(needed, s.faults.until - net.elapsed()) + s.settles);
  check();
  all->checker.finish();
  check();
  const dialogue_result result{all->checker.seen(), all->downs};
  internal::end_on_two_hosts(net);
  return result;
}

}  // namespace garrick::net::testkit
