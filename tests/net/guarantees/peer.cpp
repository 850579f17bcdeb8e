// Runs a process of a guarantee program. The command line is described in peer.hpp.
#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/random.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/little_endian.hpp>
#include <garrick/net/stack/accept_sessions.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/guarantees/peer.hpp"
#include "net/guarantees/record.hpp"

using namespace garrick;
using namespace garrick::net;
using namespace garrick::tests;
using base::duration;
using wrote = record_entry::kind;

namespace {

constexpr lane_number lanes = 4;           // as in the simulated programs
constexpr lane_number question_lane = 4;   // another one
constexpr std::size_t most_questions = 8;  // without an answer
constexpr actor_id listening_actor{1, 1}, connecting_actor{2, 2};

// ---- Messages -----------------------------------------------------------------------------------

// A message has end, number, size and lane, and then bytes that follow from these.
constexpr std::size_t head = 4 + 4 + 4 + 1;

std::byte filler(std::uint32_t end, lane_number lane, std::uint32_t number, std::size_t at) {
  return static_cast<std::byte>((end * 97 + lane * 13u + number * 5 + at) & 0xff);
}

packet numbered(std::uint32_t end, lane_number lane, std::uint32_t number, std::size_t size,
                std::size_t room) {
  packet p = packet::with_room(room, size);
  std::byte* to = p.append(size);
  store_le(to, end);
  store_le(to + 4, number);
  store_le(to + 8, static_cast<std::uint32_t>(size));
  to[12] = static_cast<std::byte>(lane);
  for (std::size_t i = head; i != size; ++i) to[i] = filler(end, lane, number, i);
  return p;
}

bool is_whole(std::span<const std::byte> bytes) {
  if (bytes.size() < head) return false;
  const auto end = load_le<std::uint32_t>(bytes.data());
  const auto number = load_le<std::uint32_t>(bytes.data() + 4);
  const auto lane = static_cast<lane_number>(bytes[12]);
  if (load_le<std::uint32_t>(bytes.data() + 8) != bytes.size()) return false;
  for (std::size_t i = head; i != bytes.size(); ++i)
    if (bytes[i] != filler(end, lane, number, i)) return false;
  return true;
}

// ---- Sessions -----------------------------------------------------------------------------------

/// The orders of this process.
struct task {
  std::uint32_t number = 0;  ///< of this life
  bool connects = false;
  endpoint where;
  const named_stack* kind = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t messages = 0;  ///< the most to send
  duration down_after;
  duration answer_within;  ///< over stacks that lose questions
};

/// The common data of its sessions.
struct shared {
  explicit shared(const task& t) : told(t), random(t.seed * 1000 + t.number) {}
  const task& told;
  std::atomic<bool> enough{false};
  std::atomic<std::int64_t> left{told.messages};  ///< to be sent; below 0: none

  std::mutex mutex;
  std::vector<connection> links;  // under mutex, the newest last
  std::uint32_t ends = 0;         // under mutex
  base::random_source random;     // under mutex
};

class session final : public hosted, link_owner {
 public:
  session(shared& s, carrier& below, std::uint64_t secret = 0) : shared_(s), random_(0) {
    const std::lock_guard lock(s.mutex);
    end_ = s.told.number << 16 | ++s.ends;
    random_ = base::random_source(s.random());
    link_settings l;
    // A link that is down is replaced by one with another incarnation, as after a crash.
    l.session.self = {.node = {0, s.told.connects ? 1u : 2u}, .incarnation = s.random() | 1};
    l.session.connects = s.told.connects;
    l.session.seed = s.random();
    l.session.secret = secret;
    l.session.interval = duration::milliseconds(20);
    l.session.down_after = s.told.down_after;
    l.session.resume_window = s.told.down_after / 2;
    l.session.hello_first = duration::milliseconds(20);
    l.session.hello_most = duration::milliseconds(100);
    l.session.reopen_first = duration::milliseconds(5);
    l.session.reopen_most = duration::milliseconds(50);
    link_ = s.told.kind->make(*this, below, l);
    note(wrote::began);
  }
  [[nodiscard]] carried& stack() override { return *link_; }
  void ended(const base::error&) noexcept override { note(wrote::ended); }

  /// Does a round of its owner's work, all on the visitor's thread.
  void work(bool newest) {
    if (!opened_ || down_) return;
    put_into_mailboxes();
    send_answers();
    if (!newest || shared_.enough) return;
    for (std::uint32_t n = random_.below(3); n != 0 && link_->writable(); --n) send_one();
    if (random_.below(4) == 0 && open_questions_ < most_questions && link_->writable()) ask();
  }

 private:
  [[nodiscard]] static base::instant now() { return base::real_clock().now(); }
  void note(wrote what, record_entry e = {}) {
    e.what = what;
    e.process = shared_.told.number;
    e.end = end_;
    write_entry(e);
  }
  [[nodiscard]] frame from_here(frame_kind kind, std::uint64_t number = 0) const {
    const bool connects = shared_.told.connects;
    return {.kind = kind,
            .receiver = connects ? listening_actor : connecting_actor,
            .sender = connects ? connecting_actor : listening_actor,
            .number = number};
  }
  [[nodiscard]] std::size_t room() const { return frame_room + link_->header_size(); }

  void send_one() {
    if (--shared_.left < 0) return;
    const auto lane = static_cast<lane_number>(random_.below(lanes));
    // Small ones mostly, some in many pieces.
    const std::uint32_t most = shared_.told.kind->provides.confirmed ? 20'000 : 5'000;
    const std::size_t size = head + random_.below(random_.below(8) == 0 ? most : 64);
    const std::uint32_t number = next_[lane]++;
    outgoing m =
        to_outgoing(from_here(frame_kind::message), numbered(end_, lane, number, size, room()));
    m.lane = lane;
    m.report = ++reports_;
    note(wrote::sending,
         {.lane = lane, .number = number, .size = static_cast<std::uint32_t>(size)});
    if (link_->send(std::move(m), now())) note(wrote::refused, {.lane = lane, .number = number});
  }
  void ask() {
    const std::uint32_t number = ++questions_;
    frame f = from_here(frame_kind::request, number);
    if (!shared_.told.kind->provides.confirmed) f.time_left = shared_.told.answer_within;
    packet payload = packet::with_room(room(), 4);
    store_le(payload.append(4), end_);
    outgoing m = to_outgoing(f, std::move(payload));
    m.lane = question_lane;
    ++open_questions_;
    note(wrote::asked, {.number = number});
    if (link_->send(std::move(m), now())) note(wrote::refused, {.lane = question_lane});
  }
  void send_answers() {
    for (; !to_answer_.empty() && link_->writable(); to_answer_.pop_front()) {
      packet payload = packet::with_room(room(), 8);
      store_le(payload.append(8), answer_to(to_answer_.front()));
      outgoing m =
          to_outgoing(from_here(frame_kind::response, to_answer_.front()), std::move(payload));
      m.lane = question_lane;
      if (link_->send(std::move(m), now())) note(wrote::refused, {.lane = question_lane});
    }
  }
  void put_into_mailboxes() {
    for (auto& [lane, late] : late_) {
      if (late == 0 || random_.below(2) == 0) continue;
      --late;
      note(wrote::in_mailbox, {.lane = lane});
      link_->delivered(lane, now());
    }
  }

  bool on_message(const incoming& m) override {
    const frame& f = *m.decoded;
    if (f.kind == frame_kind::request) return on_question(f);
    if (f.kind == frame_kind::response || f.kind == frame_kind::error) return on_answer(f);
    if (f.kind == frame_kind::cancel) return true;  // the question was answered at once
    record_entry e{};
    e.lane = m.lane;
    if (f.payload.size() >= head) {
      e.from = load_le<std::uint32_t>(f.payload.data());
      e.number = load_le<std::uint32_t>(f.payload.data() + 4);
      e.size = static_cast<std::uint32_t>(f.payload.size());
      e.sent_in = static_cast<lane_number>(f.payload[12]);
      e.flag = is_whole(f.payload);
    }
    // A message that waits for its mailbox waits behind those before it.
    const bool waits =
        shared_.told.kind->provides.confirmed && (late_[m.lane] != 0 || random_.below(4) == 0);
    late_[m.lane] += waits;
    e.detail = !waits;
    note(wrote::came, e);
    return !waits;
  }
  bool on_question(const frame& f) {
    const std::uint32_t from = f.payload.size() == 4 ? load_le<std::uint32_t>(f.payload.data()) : 0;
    note(wrote::handled, {.from = from, .number = static_cast<std::uint32_t>(f.number)});
    to_answer_.push_back(f.number);
    send_answers();
    return true;
  }
  bool on_answer(const frame& f) {
    answer how = answer::other;
    if (f.kind == frame_kind::response) {
      const bool right =
          f.payload.size() == 8 && load_le<std::uint64_t>(f.payload.data()) == answer_to(f.number);
      how = right ? answer::right : answer::wrong;
    } else if (const base::error why = error_of(f); why == net_errc::perhaps_delivered) {
      how = answer::perhaps;
    } else if (why == base::errc::timeout) {
      how = answer::timeout;
    }
    --open_questions_;
    note(wrote::answered, {.detail = static_cast<std::uint8_t>(how),
                           .number = static_cast<std::uint32_t>(f.number)});
    return true;
  }
  void on_event(const link_event& e) override {
    using kind = link_event::kind;
    doubt why = doubt::none;
    if (e.what == kind::unknown)
      why = e.why == net_errc::perhaps_delivered ? doubt::perhaps
            : e.why == net_errc::peer_down       ? doubt::never_sent
                                                 : doubt::other;
    if (e.what == kind::opened) opened_ = true;
    if (e.what == kind::down) down_ = true;
    note(wrote::happened, {.detail = static_cast<std::uint8_t>(e.what),
                           .flag = static_cast<std::uint8_t>(why),
                           .number = static_cast<std::uint32_t>(e.number)});
  }

  shared& shared_;
  std::uint32_t end_ = 0;
  base::random_source random_;
  std::unique_ptr<any_link> link_;
  bool opened_ = false;
  bool down_ = false;
  std::map<lane_number, std::uint32_t> next_;
  std::map<lane_number, std::uint32_t> late_;
  std::uint64_t reports_ = 0;
  std::uint32_t questions_ = 0;
  std::size_t open_questions_ = 0;
  std::deque<std::uint64_t> to_answer_;
};

struct policy final : accept_sessions {
  explicit policy(shared& s) : shared_(s) {}
  std::unique_ptr<hosted> make_session(const arrival&, const hello&, std::uint64_t secret,
                                       carrier& below, const connection& self) override {
    auto made = std::make_unique<session>(shared_, below, secret);
    const std::lock_guard lock(shared_.mutex);
    shared_.links.push_back(self);
    return made;
  }
  shared& shared_;
};

// ---- The process --------------------------------------------------------------------------------

int failed(const char* what, const base::error& why) {
  std::fprintf(stderr, "guarantee_peer: %s: %s\n", what, why.to_string().c_str());
  return 3;
}

/// Does a round: drops the links that are over, replaces a connecting one, and lets others work.
base::error work(shared& s, io_threads& io) {
  std::vector<connection> links;
  {
    const std::lock_guard lock(s.mutex);
    std::erase_if(s.links, [](const connection& c) { return c.is_over(); });
    links = s.links;
  }
  if (links.empty() && s.told.connects) {
    auto made = connect(io, s.told.where,
                        [&s](carrier& below, const connection&) -> std::unique_ptr<hosted> {
                          return std::make_unique<session>(s, below);
                        });
    if (!made) return made.error();
    const std::lock_guard lock(s.mutex);
    s.links.push_back(*made);
  }
  for (std::size_t i = 0; i != links.size(); ++i)
    links[i].run(
        [newest = i + 1 == links.size()](hosted& h) { static_cast<session&>(h).work(newest); });
  return {};
}

/// Breaks all connected streams of this process, as seen from both ends. The library does not know
/// the cause.
void lose_streams() {
  for (int fd = orders_fd(connector_role) + 1; fd != 1024; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    const bool is_connected =
        ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0;
    if (is_connected) ::shutdown(fd, SHUT_RDWR);
  }
}

int live(const task& t) {
  const record_entry self{
      .what = wrote::started, .process = t.number, .pid = static_cast<std::int64_t>(::getpid())};
  write_entry(self);
  shared s(t);
  io_threads io({.threads = 2});
  std::unique_ptr<listener> door;
  if (!t.connects) {
    auto made = listen(io, t.where, std::make_shared<policy>(s));
    if (!made) return failed("cannot listen", made.error());
    door = std::make_unique<listener>(std::move(*made));
    write_entry({.what = wrote::listening, .process = t.number});
  }
  for (;;) {
    // The time between two rounds decides the load of the links.
    pollfd orders{orders_fd(role_of(t.number)), POLLIN, 0};
    if (::poll(&orders, 1, 2) > 0) {
      char order = 0;
      if (::read(orders.fd, &order, 1) != 1) break;
      if (order == order_enough && !s.enough.exchange(true))
        write_entry({.what = wrote::idle, .process = t.number});
      if (order == order_lose) lose_streams();
    }
    if (const base::error e = work(s, io)) return failed("cannot connect", e);
  }
  io.stop();
  return 0;
}

/// Ends with the process that has started this one.
void tether() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(2);
}

int keep(task t) {
  for (;; t.number += 2) {
    const pid_t child = ::fork();
    if (child < 0) return 3;
    if (child == 0) {
      tether();
      return live(t);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFEXITED(status) || WTERMSIG(status) != SIGKILL) {
      write_entry({.what = wrote::fell,
                   .detail = static_cast<std::uint8_t>(WIFEXITED(status) ? 0 : WTERMSIG(status)),
                   .process = t.number,
                   .number = static_cast<std::uint32_t>(WEXITSTATUS(status))});
      return 3;
    }
    char order = 0;
    while (::read(orders_fd(role_of(t.number)), &order, 1) == 1 && order != order_another) {}
    if (order != order_another) return 0;
  }
}

}  // namespace

int garrick::tests::run_guarantee_peer(int argc, char** argv, void (*add)(stack_catalogue&)) {
  tether();
  const std::vector<std::string_view> words(argv, argv + argc);
  if (argc > 2 && words[1] == "tethered") {
    ::execv(argv[2], argv + 2);
    std::perror(argv[2]);
    return 127;
  }
  if (argc != 10 || words[1] != "keep") return 2;
  stack_catalogue stacks = standard_stacks();
  if (add != nullptr) add(stacks);
  task t;
  t.number = static_cast<std::uint32_t>(std::stoul(argv[2]));
  t.connects = words[3] == "connect";
  // This process closes the other end's orders, so that the end of a pipe of orders is seen.
  ::close(orders_fd(1 - role_of(t.number)));
  const base::result<endpoint> where = endpoint::parse(words[4]);
  t.kind = stacks.find(words[5]);
  if (!where || t.kind == nullptr) return 2;
  t.where = *where;
  t.seed = std::stoull(argv[6]);
  t.messages = static_cast<std::uint32_t>(std::stoul(argv[7]));
  t.down_after = duration::milliseconds(std::stoll(argv[8]));
  t.answer_within = duration::milliseconds(std::stoll(argv[9]));
  return keep(t);
}
