// A peer that speaks the protocol of sessions and sends anything above it: frames of any kind, with
// any numbers, handles and payloads, in any order, while the node's own actors use the handles that
// they were given.
//
// The input is a program of steps. Most steps make a frame with fields that make sense at that
// moment, such as a number that the node has told, so that the code behind the first check is
// reached. Other steps are raw bytes, a change of one byte, time, a full or a busy link, a lost
// stream, or actions of the node's own actors.
//
// For every input: no assertion fails, no exception is thrown, and tables stay below their limits.
// No message reaches an actor that was not shown to the peer. There are no more answers than
// questions, and all bytes of the node are frames. Another peer is served meanwhile and afterwards.
// When the stranger's links are over, nothing of them is left.
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/internal/fuzzed/actors.hpp>
#include <garrick/net/testkit/internal/fuzzed/links.hpp>
#include <garrick/net/testkit/internal/fuzzed/peers.hpp>
#include <garrick/testkit/test_system.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::net;
using namespace garrick::net::testkit::internal::fuzzed;

namespace {

/// Listens for changes of peers, and checks that each peer is up before it is down.
class listening final : public peer_listener {
 public:
  void changed(const peer_identity& who, peer_change what, const error&) override {
    if (what == peer_change::up)
      GARRICK_ASSERT(up_.insert(who).second, "up twice");
    else
      GARRICK_ASSERT(up_.erase(who) == 1, "down without having been up");
  }
  void noticed(const peer_identity& who, const peer_evidence&) override {
    GARRICK_ASSERT(up_.contains(who), "evidence of a peer that is not up");
  }
  [[nodiscard]] std::size_t up() const noexcept { return up_.size(); }

 private:
  std::set<peer_identity> up_;
};

/// A node, an honest peer and a stranger.
class world {
 public:
  world(program& in, unsigned how, unsigned order)
      : in_(in),
        how_(how),
        world_(order + 1),
        kit_(world_),
        links_(std::make_shared<direct_source>(world_.time())),
        node_(kit_.env(), settings()),
        honest_(world_.time()) {
    house_.self = &node_;
    house_.stranger = next_stranger();
    house::here = &house_;
    static_cast<void>(node_.listen("tcp://127.0.0.1:7").value());
    node_.allow_as<guest_type, guest, std::string, std::int64_t>("guest").value();
    node_.allow_as<guest_type, companion, ref<guest_type>>("companion").value();
    node_.subscribe(listening_);
    secret_ = kit_.spawn<hidden>();
    hidden_ = kit_.spawn<hidden>();
    publish();
    links_->answering = [this] { return in_dial_ ? &strangers_.back()->end() : nullptr; };
  }
  ~world() { house::here = nullptr; }

  void run() {
    if ((how_ & has_friend) != 0) befriend();
    begin();
    while (!in_.is_over()) step();
    end();
  }

 private:
  static constexpr unsigned dials = 1, is_larger = 2, has_friend = 8, one_life = 16, goes_away = 32;
  [[nodiscard]] node_settings settings() const {
    node_settings s;
    s.id = {5, 5};
    s.incarnation = 55;
    s.link.session = settings_of({}, true);
    s.link.mailbox.messages = 8;
    s.link.mailbox.bytes = 8000;
    s.link.mailbox.system_messages = 16;
    s.link.questions.most_questions = 8;
    s.link.slicing.largest = 20'000;
    if ((how_ & one_life) != 0) s.after_down = peer_return::new_life_only;
    s.most_under_way = 8;
    s.most_bytes_waiting = 8000;
    s.patience = ms(1);
    s.most_exports = most_exports;
    s.most_questions = most_questions;
    s.most_watches = most_watches;
    s.most_spawned = most_spawned;
    s.source = links_;
    s.seed = 3;
    return s;
  }
  static constexpr std::uint32_t most_exports = 6, most_questions = 4, most_watches = 4,
                                 most_spawned = 3;
  [[nodiscard]] peer_identity next_stranger() const {
    return {{(how_ & is_larger) != 0 ? 8u : 2u, 5}, 10 + lives_};
  }

  // ---- the steps --------------------------------------------------------------------------------

  void publish() {
    if (host_ && !core::handle_access::get(host_)->has_ended()) return;
    host_ = kit_.spawn<host>();
    static_cast<void>(node_.publish<host_type>("host", host_));
  }
  void settle() {
    for (int i = 0;; ++i) {
      GARRICK_ASSERT(i < 10'000, "they do not come to rest");
      const bool carried = links_->carry();
      if (kit_.run() == 0 && !carried) return;
    }
  }
  void pass_time(duration d) {
    kit_.run_for(d);
    links_->look_at_the_clock();
    redial(honest_);
    for (const auto& s : strangers_) redial(*s);
    settle();
  }
  void redial(peer& p) {
    p.end().look_at_the_clock();
    if (p.end().wants_stream()) links_->knock(p.end());
  }
  void begin() {
    strangers_.push_back(std::make_unique<stranger>(world_.time(), next_stranger(),
                                                    (how_ & dials) == 0, in_, honest_));
    speaker_ = strangers_.back().get();
    house_.stranger = speaker_->self();
    if ((how_ & dials) == 0) {
      links_->knock(speaker_->end());
    } else {
      in_dial_ = true;
      send(host_, act{11, "tcp://127.0.0.1:9"});
    }
    settle();
    in_dial_ = false;
    if ((how_ & is_larger) == 0) speaker_->grant();
    settle();
  }
  void befriend() {
    links_->knock(honest_.end());
    settle();
    GARRICK_ASSERT(honest_.is_open(), "an honest peer is let in");
    const actor_id to = found("host", of_host());
    honest_.show_oneself(to);
    ++house_.allowed;
    settle();
    const ref<guest_type> shown = kit_.inspect<host>(host_).kept().at(0);
    send(shown, bring{ref<hidden_type>(hidden_)});
    settle();
    hidden_id_ = honest_.told().back();
    ask_hidden();
  }
  actor_id found(const std::string& name, const protocol_table& as) {
    const std::uint64_t number = honest_.resolve(name, as);
    settle();
    const auto answer = honest_.answers.find(number);
    GARRICK_ASSERT(answer != honest_.answers.end() && answer->second.as == kind::resolved,
                   "an honest peer is served");
    return answer->second.who;
  }
  void expect_answer(const actor_id& of) {
    const std::uint64_t number = honest_.request(of, 41);
    settle();
    const auto answer = honest_.answers.find(number);
    GARRICK_ASSERT(answer != honest_.answers.end() && answer->second.value == 42,
                   "an honest peer is answered");
  }
  void ask_hidden() {
    if (!hidden_id_) return;
    ++hidden_asked_;
    expect_answer(hidden_id_);
  }

  void step() {
    const unsigned what = in_.take();
    switch (what % 16) {
      case 6: speaker_->say_bytes(); break;
      case 7: {
        static constexpr std::array<int, 8> times{1, 3, 10, 20, 50, 100, 150, 500};
        pass_time(ms(times[in_.take() % times.size()]));
        break;
      }
      case 8: {
        const auto n = static_cast<std::uint8_t>(in_.take() % 11);
        send(host_, act{n, in_.take() % 2 == 0 ? "guest" : "companion"});
        break;
      }
      case 9: change_the_way(in_.take()); break;
      case 10:
        speaker_->is_in_doubt();
        links_->cut(speaker_->end());
        break;
      case 11: change_stranger(in_.take()); break;
      case 12: change_the_node(in_.take()); break;
      case 13: speaker_->order(in_.take() % 2 == 0 ? "guest" : "companion"); break;
      case 14:
        if ((what & 16) != 0)
          speaker_->resolve("guest", of_guest());
        else
          speaker_->resolve("host", of_host());
        break;
      case 15: settle(); break;
      default: speaker_->say_frame();
    }
    if (what < 128) settle();
    check();
    if (what < 128 && nothing_is_under_way()) house_.allowed = house_.handled;
  }
  [[nodiscard]] bool nothing_is_under_way() const {
    for (const auto& s : strangers_)
      if (s->is_open() && !(s->end().has_stream() && s->end().reads)) return false;
    return !links_->any_occupied();
  }
  void change_the_way(unsigned how) {
    net::testkit::internal::fuzzed::place* const there = links_->behind(speaker_->end());
    speaker_->is_in_doubt();
    switch (how % 8) {
      case 0:
        if (there != nullptr) there->occupy();
        return;
      case 1: return links_->vacate_all();
      case 2: speaker_->end().reads = false; return;
      case 3: speaker_->end().reads = true; return;
      case 4: return speaker_->hold(true);
      case 5: return speaker_->hold(false);
      case 6:
        if (there != nullptr) there->hear_a_rumour();
        return;
      default: speaker_->confirm_some(how / 8);
    }
  }
  void change_stranger(unsigned how) {
    switch (how % 8) {
      case 0: return speaker_->leave();
      case 1:
        speaker_->end().reads = true;
        speaker_ = strangers_[how / 8 % strangers_.size()].get();
        return;
      case 2:
      case 3:
        if (strangers_.size() == 4) return;
        lives_ += how % 8 == 2 ? 1 : 0;
        how_ = (how_ & ~dials) | (how / 8 & dials);
        return begin();
      case 4: return give_all_back();
      default: return speaker_->say_often(how / 8 * 16);
    }
  }
  /// The stranger releases all its handles. After that, the node keeps only the numbers that
  /// watches and links use.
  void give_all_back() {
    settle();
    speaker_->release_all();
    settle();
    if (!speaker_->is_sure() || !speaker_->is_open() || strangers_.size() != 1) return;
    std::map<std::string_view, std::uint64_t> counts = counted(speaker_->self());
    if (counts["questions"] != 0) return;  // some may still wait to be sent, with handles
    GARRICK_ASSERT(counts["exports"] <= counts["monitors"] + counts["links"],
                   "the node keeps actors that were given back");
  }
  void change_the_node(unsigned how) {
    switch (how % 8) {
      case 0: static_cast<void>(node_.unpublish("host")); return;
      case 1: return (how & 8) != 0 ? publish_kept(how / 16) : publish();
      case 2: static_cast<void>(node_.disallow("guest")); return;
      case 3:
        static_cast<void>(node_.allow_as<guest_type, guest, std::string, std::int64_t>("guest"));
        return;
      case 4: return quarantine();
      case 5: return ask_hidden();
      default: end_one(how);
    }
  }
  /// Publishes an actor to which the host has a handle: an actor of this node, or of a peer, which
  /// then finds its own actor by the name.
  void publish_kept(unsigned which) {
    static_cast<void>(node_.unpublish("guest"));
    if (core::handle_access::get(host_)->has_ended()) return;
    const auto& kept = kit_.inspect<host>(host_).kept();
    if (!kept.empty()) static_cast<void>(node_.publish("guest", kept[which % kept.size()]));
  }
  /// Bars this incarnation of the stranger, so that its frames reach no mailbox any more.
  void quarantine() {
    links_->vacate_all();
    settle();
    node_.quarantine(speaker_->self());
    for (const auto& s : strangers_)
      if (s->self() == speaker_->self()) s->is_barred = true;
    kit_.run();
    house_.allowed = house_.handled;
  }
  void end_one(unsigned how) {
    if (core::handle_access::get(host_)->has_ended()) return;
    const auto& kept = kit_.inspect<host>(host_).kept();
    if (kept.empty()) return;
    const ref<guest_type> who = kept[how / 16 % kept.size()];
    if (!who) return;
    if (how % 8 == 6)
      kit_.exit(who);
    else
      kit_.kill(who);
  }

  // ---- the checks -------------------------------------------------------------------------------

  void check() {
    GARRICK_ASSERT(house_.handled <= house_.allowed, "more messages are handled than were sent");
    GARRICK_ASSERT(house_.hidden_asked == hidden_asked_, "an actor that was not shown was asked");
    GARRICK_ASSERT(house_.guests <= 200, "guests beyond all limits");
    if (links_->any_occupied()) return;
    for (const peer_identity& who : node_.peers()) {
      const std::map<std::string_view, std::uint64_t> now = counted(who);
      // Only the local actors bound the number of their requests, which may be under way, too.
      const std::uint64_t asked_for = now.at("questions");
      const std::array<std::pair<std::string_view, std::uint64_t>, 7> limits{
          {{"exports", most_exports + most_spawned + most_watches},
           {"spawned", most_spawned},
           {"asked", most_questions},
           {"unanswered", 2 * most_questions},
           {"monitors", 2 * most_watches},
           {"links", most_watches},
           {"under_way", 2 * 8 + most_questions + asked_for}}};
      for (const auto& [name, most] : limits)
        GARRICK_ASSERT(now.at(name) <= most, "a table beyond its limit");
    }
  }
  /// Returns the node's own figures of this peer.
  [[nodiscard]] std::map<std::string_view, std::uint64_t> counted(const peer_identity& who) const {
    std::map<std::string_view, std::uint64_t> all;
    for (const link_count& c : node_.counters(who))
      if (c.layer == "node") all.emplace(c.name, c.value);
    return all;
  }
  void end() {
    links_->vacate_all();
    for (const auto& s : strangers_) {
      s->hold(false);
      s->confirm_some(~std::size_t{0});
      s->end().reads = true;
    }
    settle();
    check();
    ask_hidden();
    for (const auto& s : strangers_) {
      if ((how_ & goes_away) == 0) s->leave();
      s->end().close();
    }
    for (int i = 0; i < 16 && !strangers_are_gone(); ++i) pass_time(ms(50));
    GARRICK_ASSERT(strangers_are_gone(), "the node keeps the link of a peer that is gone");
    GARRICK_ASSERT(listening_->up() == node_.peers().size(), "a peer is up that is none");
    if (!honest_.is_open()) links_->knock(honest_.end());
    settle();
    for (keeper* const k : house_.keepers) k->forget();
    static_cast<void>(node_.unpublish("guest"));
    kit_.kill(host_);
    settle();
    GARRICK_ASSERT(house_.guests == 0, "one that was spawned for a stranger lives on");
    GARRICK_ASSERT(kit_.env().outside_due() == 0, "an answer is waited for that cannot come");
    expect_served();
    if (hidden_id_) GARRICK_ASSERT(honest_.released == 1, "a handle is not released");
    kit_.expect_alive(secret_);
    kit_.expect_alive(hidden_);
  }
  [[nodiscard]] bool strangers_are_gone() const {
    return links_->links() == (honest_.is_open() ? 1 : 0);
  }
  void expect_served() {
    ask_hidden();
    const ref<hidden_type> fresh = kit_.spawn<hidden>();
    GARRICK_ASSERT(node_.publish("fresh", fresh).has_value(), "a name is free");
    ++hidden_asked_;
    expect_answer(found("fresh", protocol_table_of<hidden_type>()));
    GARRICK_ASSERT(node_.unpublish("fresh"), "a name was free");
    check();
  }

  program& in_;
  unsigned how_;
  house house_;
  garrick::testkit::test_world world_;
  garrick::testkit::test_system kit_;
  std::shared_ptr<direct_source> links_;
  const std::shared_ptr<listening> listening_ = std::make_shared<listening>();
  node node_;
  honest honest_;
  std::vector<std::unique_ptr<stranger>> strangers_;
  stranger* speaker_ = nullptr;
  ref<core::protocol<std::int64_t(ask), void(exit_signal)>> secret_, hidden_;
  ref<core::protocol<void(say), std::int64_t(ask), void(keep), void(crowd), ref<guest_type>(give),
                     std::int64_t(later), std::int64_t(pass), void(act), void(down),
                     void(exit_signal)>>
      host_;
  actor_id hidden_id_{};
  std::size_t hidden_asked_ = 0;
  std::uint64_t lives_ = 0;
  bool in_dial_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 512) return 0;  // some hundred steps
  program in(std::as_bytes(std::span(data, size)));
  const unsigned how = in.take();
  world(in, how, in.take()).run();
  return 0;
}
