// Admission by the policy and by the limits, and the rules of Unix domain sockets.
#include <garrick/net/transport/accept_policy.hpp>

#include <sys/stat.h>
#include <sys/wait.h>

#include <future>
#include <optional>

#include <support/transports.hpp>

namespace accept_policy_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

/// A policy that wants a word first: "new", "bad", or "old", which joins the first link.
struct by_word final : accept_policy {
  explicit by_word(std::shared_ptr<notes> n) : notes_(std::move(n)) {}
  [[nodiscard]] std::size_t wants() const override { return 10; }
  verdict look(const arrival& a) override {
    const std::string word = text_of(a.bytes);
    if (word.size() < 3) return verdict::more();
    if (word.starts_with("new")) return verdict::start(1);
    if (word.starts_with("old")) return verdict::join(notes_->self());
    if (word.starts_with("mor")) return verdict::more();
    return verdict::refuse();
  }
  std::unique_ptr<hosted> make(const arrival& a, carrier& c, const connection& self) override {
    notes_->change([&](notes::all& n) { n.messages.push_back("made by " + text_of(a.bytes)); });
    return std::make_unique<listening_session>(c, self, notes_);
  }

  /// A link without a stack, which notes the bytes. The bytes "newly gone" end it.
  struct listening_session final : hosted, carried {
    listening_session(carrier& c, const connection& self, std::shared_ptr<notes> n)
        : below_(c), notes_(std::move(n)) {
      notes_->change([&](notes::all& a) { a.self = self; });
    }
    carried& stack() override { return *this; }
    void note(std::string text) {
      notes_->change([&](notes::all& a) {
        a.messages.push_back(std::move(text));
        ++a.count;
      });
    }
    void connected(base::instant) override { note("connected"); }
    void disconnected(const base::error&, base::instant) override { note("disconnected"); }
    void receive(std::span<const std::byte> b, base::instant) override {
      note(text_of(b));
      if (text_of(b) == "newly gone") below_.close();
    }
    void carrier_writable(base::instant) override {}
    void path_changed(std::size_t, base::instant) override {}
    [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
    void advance(base::instant) override {}
    carrier& below_;
    std::shared_ptr<notes> notes_;
  };
  std::shared_ptr<notes> notes_;
};

/// A link that is not admitted before its first message.
struct shy final : hosted, link_owner {
  shy(carrier& c, std::shared_ptr<notes> n)
      : link_(link_over(*this, c, byte_stream())), notes_(n) {}
  carried& stack() override { return *link_; }
  [[nodiscard]] bool admitted() const override { return is_admitted; }
  void ended(const base::error& why) noexcept override { notes_->end(why); }
  bool on_message(const incoming&) override {
    is_admitted = true;
    notes_->change([](notes::all& a) { ++a.count; });
    return true;
  }
  void on_event(const link_event&) override {}
  std::unique_ptr<net::any_link> link_;
  std::shared_ptr<notes> notes_;
  bool is_admitted = false;
};

}  // namespace

TEST_CASE("accept: the policy sees the first bytes, and the link gets them as if they just came") {
  io_threads io({.threads = 2});
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<by_word>(n), {.thread = 0});
  const bare_socket first = bare_socket::connected(door->local().port());
  first.write("ne");
  first.write("w!");
  REQUIRE(n->wait([](const notes::all& a) { return !a.messages.empty() && a.count >= 2; }));
  n->look([](const notes::all& a) {
    CHECK(a.messages[0].starts_with("made by new"));
    CHECK(a.messages[1] == "connected");
    CHECK(a.messages[2].starts_with("new"));
  });
  const bare_socket bad = bare_socket::connected(door->local().port());
  bad.write("bad");
  CHECK(bad.read(1).empty());
  // No more bytes are read than the policy wants. If it asks for more at that limit, it refuses.
  const bare_socket curious = bare_socket::connected(door->local().port());
  curious.write("more and more");
  CHECK(curious.read(1).empty());
  wait_until([&] { return door->counters().refused == 2 && door->counters().connections == 1; });
  CHECK(door->counters().started == 1);
}

TEST_CASE("accept: a connection may be handed to a link that has lost its own, on any thread") {
  io_threads io({.threads = 2});
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<by_word>(n), {.thread = 0});
  std::vector<std::string> expected{"made by new", "connected", "new"};
  bare_socket first = bare_socket::connected(door->local().port());
  first.write("new");
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 2; }));
  first.close();
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 3; }));
  const bare_socket second = bare_socket::connected(door->local().port());
  second.write("old");
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 5; }));
  // A session with a connection loses that before it gets the new one.
  const bare_socket third = bare_socket::connected(door->local().port());
  third.write("old");
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 8; }));
  CHECK(second.read(1).empty());
  third.write("more");
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 9; }));
  CHECK(n->look([](const notes::all& a) { return a.messages; }) ==
        std::vector<std::string>{"made by new", "connected", "new", "disconnected", "connected",
                                 "old", "disconnected", "connected", "old", "more"});
  CHECK(door->counters().joined == 2);
  CHECK(door->counters().started == 1);
}

TEST_CASE("accept: a connection for a link that is over is refused") {
  io_threads io({.threads = 2});
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<by_word>(n), {.thread = 0});
  const bare_socket first = bare_socket::connected(door->local().port());
  first.write("newly gone");
  REQUIRE(n->wait([](const notes::all& a) { return a.count >= 2; }));
  wait_until([&] { return n->self().is_over(); });
  const bare_socket second = bare_socket::connected(door->local().port());
  second.write("old");
  CHECK(second.read(1).empty());
  wait_until([&] { return door->counters().connections == 0; });
  CHECK(door->counters().refused == 1);
  CHECK(door->counters().joined == 0);
}

TEST_CASE("accept: a peer that says nothing is refused when its time is over") {
  io_threads io({.threads = 2});
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<by_word>(n), {.thread = 0},
                     {.admission = base::duration::milliseconds(20)});
  const bare_socket silent = bare_socket::connected(door->local().port());
  CHECK(silent.read(1).empty());
  wait_until([&] { return door->counters().connections == 0; });
  CHECK(door->counters().too_late == 1);
  CHECK(n->look([](const notes::all& a) { return a.messages.empty(); }));
}

TEST_CASE("accept: a link that is not admitted in time ends, and one that is stays") {
  const auto in_time = [](base::duration admission) {
    io_threads io;
    const auto n = std::make_shared<notes>();
    auto door = listen(
        io, at("tcp://127.0.0.1:0"),
        accept_each([n](const arrival&, carrier& c, const connection&) -> std::unique_ptr<hosted> {
          return std::make_unique<shy>(c, n);
        }),
        {}, {.pending = 1, .admission = admission});
    const bare_socket good = bare_socket::connected(door->local().port());
    good.write(framed("hello"));
    REQUIRE(n->wait([](const notes::all& a) { return a.count + a.ended != 0; }));
    if (n->look([](const notes::all& a) { return a.count; }) == 0) return false;
    wait_until([&] { return door->counters().pending == 0; });
    const base::instant end = base::real_clock().now() + admission;  // or later
    const bare_socket silent = bare_socket::connected(door->local().port());
    wait_until([&] { return door->counters().pending == 1 || base::real_clock().now() > end; });
    const std::size_t pending = door->counters().pending;
    const bool is_early = base::real_clock().now() < end;
    if (is_early) CHECK(pending == 1);
    CHECK(silent.read(1).empty());
    CHECK(door->counters().dropped == 0);
    REQUIRE(n->wait_for_end());
    n->look([=](const notes::all& a) {
      if (is_early) CHECK(a.ended == 1);
      CHECK(a.why_ended == net_errc::refused);
    });
    good.write(framed("again"));
    CHECK(n->wait_for_messages(2));
    return is_early;
  };
  // On a busy machine the time may be over before all of them have come.
  base::duration admission = base::duration::milliseconds(300);
  while (!in_time(admission)) admission = admission * 4;
}

TEST_CASE("accept: connections beyond the limit are refused, and their places are given again") {
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"}) {
    CAPTURE(where);
    const bool is_udp = std::string_view(where).starts_with("udp");
    io_threads io;
    const auto n = std::make_shared<notes>();
    auto door =
        listen(io, at(where),
               is_udp ? accepting<datagram_session>(
                            n, [](datagram_session& s, incoming) { s.below().close(); })
                      : accepting(n, [](stream_session& s, incoming) { s.below().close(); }),
               {}, {.connections = 2});
    std::vector<bare_socket> all;
    const int type = is_udp ? SOCK_DGRAM : SOCK_STREAM;
    if (!is_udp) {
      for (int i = 0; i < 3; ++i) {
        all.push_back(bare_socket::connected(door->local().port(), type));
        // Those before the third one wait no more, so that none of them gives way.
        if (i < 2)
          wait_until([&, n = static_cast<unsigned>(i) + 1] {
            return door->counters().started == n && door->counters().pending == 0;
          });
      }
      wait_until([&] { return door->counters().refused == 1; });
      CHECK(door->counters().dropped == 0);
      all[0].write(framed("go"));
    } else {
      // Two newcomers come here, perhaps in one turn, and a third one below. A link ends with its
      // first message.
      for (int i = 0; i < 2; ++i) {
        all.push_back(bare_socket::connected(door->local().port(), type));
        all.back().write("x");
      }
    }
    wait_until([&] { return n->look([](const notes::all& a) { return a.ended; }) >= 1; });
    wait_until([&] { return door->counters().connections < 2; });
    all.push_back(bare_socket::connected(door->local().port(), type));
    all.back().write(is_udp ? "x" : framed("x"));
    wait_until([&] { return door->counters().started == 3; });
  }
}

TEST_CASE("accept: a policy that throws refuses") {
  struct throwing final : accept_policy {
    verdict look(const arrival& a) override {
      if (a.remote.port() % 2 == 0) throw std::runtime_error("no");
      return verdict::start();
    }
    std::unique_ptr<hosted> make(const arrival&, carrier&, const connection&) override {
      throw std::runtime_error("no");
    }
  };
  io_threads io;
  auto door = listen(io, at("tcp://127.0.0.1:0"), std::make_shared<throwing>());
  for (int i = 0; i < 10; ++i) {
    const bare_socket s = bare_socket::connected(door->local().port());
    CHECK(s.read(1).empty());
  }
  wait_until([&] { return door->counters().connections == 0; });
}

TEST_CASE("accept: a policy that throws anything at all refuses, and its link is over") {
  struct throwing final : accept_policy {
    [[nodiscard]] std::size_t wants() const override { return in_wants ? throw 1 : 1; }
    verdict look(const arrival&) override { return in_look ? throw 2 : verdict::start(); }
    connection claim(const arrival&, const connection& fresh) override {
      claimed = fresh;
      throw 3;
    }
    std::unique_ptr<hosted> make(const arrival&, carrier&, const connection&) override {
      return nullptr;
    }
    bool in_wants = false;
    bool in_look = false;
    connection claimed;  ///< read when the thread has stopped
  };
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"})
    for (const int what : {0, 1, 2}) {
      io_threads io;
      const auto policy = std::make_shared<throwing>();
      policy->in_wants = what == 0;
      policy->in_look = what == 1;
      auto door = listen(io, at(where), policy);
      const bool is_udp = where[0] == 'u';
      const bare_socket s =
          bare_socket::connected(door->local().port(), is_udp ? SOCK_DGRAM : SOCK_STREAM);
      s.write("x");
      wait_until([&] { return door->counters().refused == 1; });
      wait_until([&] { return door->counters().connections == 0; });
      io.stop();
      CHECK(policy->claimed.is_over());
    }
}

TEST_CASE("accept: a closed connection has its place until the other end has closed it, too") {
  io_threads io;
  const auto who = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"),
                     accepting(who, [](stream_session& s, incoming) { s.below().close(); }),
                     {.close_limit = base::duration::seconds(60)}, {.connections = 2});
  std::vector<bare_socket> all;
  for (std::size_t i = 1; i <= 2; ++i) {
    all.push_back(bare_socket::connected(door->local().port()));
    all.back().write(framed("x"));
    REQUIRE(who->wait([&](const notes::all& a) { return a.ended == i; }));
  }
  CHECK(all[0].read(1).empty());
  CHECK(door->counters().connections == 2);
  bare_socket::connected(door->local().port()).write("x");
  wait_until([&] { return door->counters().refused == 1; });
  all.pop_back();
  wait_until([&] { return door->counters().connections == 1; });
}

TEST_CASE("accept: a link that this end has opened keeps the connection that it is given") {
  io_threads io;
  const auto far = std::make_shared<notes>();
  const auto who = std::make_shared<notes>();
  auto there = listen(io, at("tcp://127.0.0.1:0"), accepting(far));
  // It asks for another connection whenever one is lost.
  auto link = connect(io, there->local(), [&](carrier& below, const connection& self) {
    auto made = std::make_unique<stream_session>(below, self, who);
    made->on_event_ = [](stream_session& s, const link_event& e) {
      if (e.what == kind::disconnected) s.below().reopen();
    };
    return std::unique_ptr<hosted>(std::move(made));
  });
  REQUIRE(who->wait_for(kind::connected));
  struct joins final : accept_policy {
    verdict look(const arrival&) override { return verdict::join(to); }
    std::unique_ptr<hosted> make(const arrival&, carrier&, const connection&) override {
      return nullptr;
    }
    connection to;
  };
  const auto policy = std::make_shared<joins>();
  policy->to = *link;
  auto here = listen(io, at("tcp://127.0.0.1:0"), policy);
  const bare_socket s = bare_socket::connected(here->local().port());
  REQUIRE(who->wait_for(kind::connected, 2));
  s.write(framed("heard"));
  REQUIRE(who->wait_for_messages(1));
  who->look([](const notes::all& a) {
    CHECK(a.seen(kind::connected) == 2);
    CHECK(a.seen(kind::disconnected) == 1);
  });
}

TEST_CASE("unix: the socket's file is private, and goes with its listener") {
  scratch_folder folder;
  const std::string path = folder.file("socket");
  io_threads io;
  const auto n = std::make_shared<notes>();
  {
    auto door = listen(io, at("unix://" + path), accepting(n));
    REQUIRE(door);
    struct stat found{};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    // The first acceptor still listens, so the file stays.
    auto second = listen(io, at("unix://" + path), accepting(n));
    REQUIRE(!second);
    CHECK(second.error() == net_errc::address_in_use);
    REQUIRE(::access(path.c_str(), F_OK) == 0);
  }
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("unix: files of one folder at which no socket listens are replaced side by side") {
  scratch_folder folder;
  constexpr std::size_t listeners = 4;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i != listeners; ++i) paths.push_back(folder.file(std::to_string(i)));
  io_threads io;
  for (int round = 0; round != 50; ++round) {
    for (const std::string& path : paths) {
      const bare_socket stale(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_un a{};
      a.sun_family = AF_UNIX;
      path.copy(a.sun_path, sizeof(a.sun_path) - 1);
      REQUIRE(::bind(stale.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0);
    }
    std::atomic<std::size_t> heard{0};
    std::vector<std::thread> threads;
    for (const std::string& path : paths)
      threads.emplace_back([&] {
        auto door = listen(io, at("unix://" + path), accepting(std::make_shared<notes>()));
        heard += door.has_value();
      });
    for (std::thread& t : threads) t.join();
    REQUIRE(heard == listeners);
    wait_until([&] { return io.load(0) == 0; });
  }
}

TEST_CASE("unix: a file that took the place of a listener's stays when that goes") {
  scratch_folder folder;
  const std::string path = folder.file("socket");
  io_threads io;
  auto door = listen(io, at("unix://" + path), accepting(std::make_shared<notes>()));
  REQUIRE(door);
  // The first file is kept, or the second one might get its inode number.
  const std::string kept = folder.file("kept");
  REQUIRE(::rename(path.c_str(), kept.c_str()) == 0);
  const bare_socket other(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::strcpy(a.sun_path, path.c_str());
  REQUIRE(::bind(other.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0);
  door->close();
  CHECK(::access(path.c_str(), F_OK) == 0);
}

TEST_CASE("unix: a file at which no socket listens is replaced, a file that is no socket is not") {
  scratch_folder folder;
  const std::string path = folder.file("socket");
  {
    const bare_socket stale(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    std::strcpy(a.sun_path, path.c_str());
    REQUIRE(::bind(stale.fd(), reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0);
  }
  io_threads io;
  const auto n = std::make_shared<notes>();
  const auto here = std::make_shared<notes>();
  auto door = listen(io, at("unix://" + path), accepting(n), {.mode = 0660});
  REQUIRE_MESSAGE(door, door.error().to_string());
  struct stat found{};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0660);
  auto peer = connect(io, door->local(), opening(here));
  CHECK(here->wait_for(kind::connected));
  const std::string other = folder.file("file");
  ::close(::open(other.c_str(), O_CREAT | O_WRONLY, 0600));
  CHECK(!listen(io, at("unix://" + other), accepting(n)));
  CHECK(::access(other.c_str(), F_OK) == 0);
}

TEST_CASE("unix: another user is refused, unless the settings allow him") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can become another user");
    return;
  }
  constexpr uid_t other = 65534;
  scratch_folder folder;
  const std::string path = folder.file("socket");
  const std::string dir = path.substr(0, path.rfind('/'));
  REQUIRE(::chmod(dir.c_str(), 0755) == 0);
  const auto knock = [&] {  // another user gets 'x' of a link that greets, or the end
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (::setresuid(other, other, other) != 0) ::_exit(3);
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un a{};
      a.sun_family = AF_UNIX;
      std::strcpy(a.sun_path, path.c_str());
      if (::connect(fd, reinterpret_cast<const sockaddr*>(&a), sizeof(a)) != 0) ::_exit(2);
      char c = 0;
      ::_exit(::recv(fd, &c, 1, 0) == 1 ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  const auto outcome = [&](const transport_settings& s) {
    io_threads io;
    const auto n = std::make_shared<notes>();
    auto door = listen(io, at("unix://" + path),
                       accept_each([n](const arrival&, carrier& c,
                                       const connection& self) -> std::unique_ptr<hosted> {
                         auto made = std::make_unique<stream_session>(c, self, n);
                         made->on_event_ = [](stream_session& v, const link_event& e) {
                           if (e.what == kind::connected) std::ignore = v.send("greetings");
                         };
                         return made;
                       }),
                       s);
    REQUIRE(door);
    return knock();
  };
  CHECK(outcome({}) == 2);
  CHECK(outcome({.mode = 0666}) == 0);
  CHECK(outcome({.mode = 0666, .users = {other}}) == 1);
  CHECK(outcome({.mode = 0666, .any_user = true}) == 1);
}

}  // namespace accept_policy_test
