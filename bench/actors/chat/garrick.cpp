// A chat application: directories, clients that compute, post, leave and invite, chats, and an
// accumulator for each turn.
#include <algorithm>

#include "actors/chat/rules.hpp"
#include "common/garrick_system.hpp"

namespace {

using bench::chat_event;
using garrick::protocol;
using garrick::ref;

// The accumulator's messages.
struct bump {
  chat_event event;
  std::uint64_t more;
};
struct stop {
  chat_event event;
};
using counting = protocol<void(bump), void(stop)>;

// A chat knows its members by the messages that it sends to them, a client knows a chat by the
// messages that a chat understands; both are forward declared.
struct post;
struct join;
struct leave;
struct forward;
struct left;
struct befriend;
struct invite;
struct act;
struct goodbye;
using room = protocol<void(post), void(join), void(leave)>;
using person =
    protocol<void(forward), void(left), void(befriend), void(invite), void(act), void(goodbye)>;

struct post {
  ref<counting> counter;
};
struct join {
  ref<person> member;
  ref<counting> counter;
};
struct leave {
  ref<person> member;
  ref<counting> counter;
};
struct forward {
  ref<counting> counter;
};
struct left {
  ref<room> from;
  ref<counting> counter;
};
struct befriend {
  ref<person> other;
};
struct invite {
  ref<room> to;
  ref<counting> counter;
};
struct act {
  std::uint32_t turn;
  ref<counting> counter;
};
struct goodbye {};

// The directory's and the poker's.
struct poke {
  std::uint32_t turn;
  ref<counting> counter;
};
using phone_book = protocol<void(poke), void(goodbye)>;
using turn_ends = protocol<void(bench::chat_turn)>;

class accumulator : public garrick::actor<counting> {
 public:
  accumulator(ref<turn_ends> poker, std::uint64_t clients)
      : poker_(std::move(poker)), outstanding_(clients) {}

  void on(bump b) {
    counts_.announced[static_cast<std::size_t>(b.event)] += b.more;
    outstanding_ += b.more;
  }
  void on(stop s) {
    ++counts_.stopped[static_cast<std::size_t>(s.event)];
    if (--outstanding_ == 0) send(poker_, counts_);
  }

 private:
  ref<turn_ends> poker_;
  std::uint64_t outstanding_;
  bench::chat_turn counts_;
};

class chat : public garrick::actor<room> {
 public:
  explicit chat(ref<person> initiator) { members_.push_back(std::move(initiator)); }

  void on(const post& p) {
    send(p.counter, bump{chat_event::delivery, members_.size()});
    for (const ref<person>& member : members_) send(member, forward{p.counter});
    send(p.counter, stop{chat_event::post});
  }
  void on(const join& j) {
    members_.push_back(j.member);
    send(j.counter, stop{chat_event::join});
  }
  void on(const leave& l) {
    const auto at = std::find(members_.begin(), members_.end(), l.member);
    if (at != members_.end()) members_.erase(at);
    send(l.member, left{self(), l.counter});
  }

 private:
  std::vector<ref<person>> members_;
};

class client : public garrick::actor<person> {
 public:
  client(std::uint32_t id, std::uint32_t compute) : id_(id), compute_(compute), dice_(id) {}

  void on(const befriend& b) { friends_.push_back(b.other); }
  void on(const forward& f) { send(f.counter, stop{chat_event::delivery}); }
  void on(const invite& i) {
    chats_.push_back(i.to);
    send(i.to, join{self(), i.counter});
  }
  void on(const left& l) {
    const auto at = std::find(chats_.begin(), chats_.end(), l.from);
    if (at != chats_.end()) chats_.erase(at);
    send(l.counter, stop{chat_event::leave});
  }
  void on(const act& a) {
    const chat_event event = bench::chat_action(id_, a.turn);
    switch (event) {
      case chat_event::post:
      case chat_event::leave:
        if (chats_.empty()) break;
        if (event == chat_event::post)
          send(chats_[dice_.below(chats_.size())], post{a.counter});
        else
          send(chats_[dice_.below(chats_.size())], leave{self(), a.counter});
        return;
      case chat_event::invite: open_chat(a.counter); return;
      default: bench::compute(compute_);
    }
    send(a.counter, stop{event});
  }
  // Friends hold each other, and so do chats and their members: the cycles must be broken.
  void on(goodbye) { quit(); }

 private:
  void open_chat(const ref<counting>& counter) {
    const ref<room> opened = spawn<chat>(self());
    chats_.push_back(opened);
    if (!friends_.empty()) {
      const std::size_t first = dice_.below(friends_.size());
      const std::size_t guests = 1 + dice_.below(friends_.size());
      send(counter, bump{chat_event::join, guests});
      for (std::size_t i = 0; i < guests; ++i)
        send(friends_[(first + i) % friends_.size()], invite{opened, counter});
    }
    send(counter, stop{chat_event::invite});
  }

  std::uint32_t id_;
  std::uint32_t compute_;
  bench::chat_dice dice_;
  std::vector<ref<person>> friends_;
  std::vector<ref<room>> chats_;
};

class directory : public garrick::actor<phone_book> {
 public:
  directory(const bench::chat_rules& rules, std::uint32_t number)
      : rules_(rules), number_(number) {}

  void on_start() {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = number_; id < rules_.clients; id += rules_.directories) {
      ids.push_back(id);
      clients_.push_back(spawn<client>(id, rules_.compute));
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::size_t j = 0; j < ids.size(); ++j) {
        if (bench::are_friends(rules_, ids[i], ids[j])) send(clients_[i], befriend{clients_[j]});
      }
    }
  }
  void on(const poke& p) {
    for (const ref<person>& c : clients_) send(c, act{p.turn, p.counter});
  }
  void on(goodbye) {
    for (const ref<person>& c : clients_) send(c, goodbye{});
    quit();
  }

 private:
  bench::chat_rules rules_;
  std::uint32_t number_;
  std::vector<ref<person>> clients_;
};

class poker : public garrick::actor<turn_ends> {
 public:
  poker(const bench::chat_rules& rules, std::vector<bench::chat_turn>* turns)
      : rules_(rules), turns_(turns) {}

  void on_start() {
    for (std::uint32_t i = 0; i < rules_.directories; ++i)
      directories_.push_back(spawn<directory>(rules_, i));
    for (std::uint32_t turn = 0; turn < rules_.turns; ++turn) {
      const ref<counting> counter = spawn<accumulator>(self(), std::uint64_t{rules_.clients});
      for (const ref<phone_book>& d : directories_) send(d, poke{turn, counter});
    }
  }
  void on(const bench::chat_turn& counts) {
    turns_->push_back(counts);
    if (turns_->size() < rules_.turns) return;
    for (const ref<phone_book>& d : directories_) send(d, goodbye{});
    quit();
  }

 private:
  bench::chat_rules rules_;
  std::vector<bench::chat_turn>* turns_;
  std::vector<ref<phone_book>> directories_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const chat_rules rules = read_rules(args);
  const std::uint64_t runs = args.number("runs", 4);

  for (std::uint64_t run = 0; run < runs; ++run) {
    std::vector<chat_turn> turns;
    out.seconds += run_system(args, [&](garrick::actor_system& system) {
      static_cast<void>(system.spawn<poker>(rules, garrick::lent(&turns)));
      static_cast<void>(system.await_all());
    });
    check_chat(out, rules, turns);
  }
}
