// Two processes: the other one is this program again, with one of the helpers below. It is ended or
// stopped by a signal that it does not expect.
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include <support/transports.hpp>

namespace processes_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

/// An echo server in a process of its own.
class other_process {
 public:
  explicit other_process(const endpoint& where) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const std::string text = where.to_string();
    const std::string out = std::to_string(ends[1]);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::close(ends[0]);
      ::setenv("GARRICK_ECHO_AT", text.c_str(), 1);
      ::setenv("GARRICK_ECHO_SAYS", out.c_str(), 1);
      ::execl("/proc/self/exe", "echo", "--test-case=processes: helper*", "--no-skip",
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string said;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) said += c;
    ::close(ends[0]);
    local_ = at(said);
  }
  ~other_process() { signal(SIGKILL); }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  [[nodiscard]] const endpoint& local() const { return local_; }
  void signal(int number) {
    if (child_ <= 0) return;
    ::kill(child_, number);
    if (number == SIGSTOP) ::waitpid(child_, nullptr, WUNTRACED);
    if (number != SIGKILL) return;
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  endpoint local_;
};

}  // namespace

TEST_CASE("processes: helper, an echo server until it is killed" * doctest::skip()) {
  const char* where = std::getenv("GARRICK_ECHO_AT");
  const char* out = std::getenv("GARRICK_ECHO_SAYS");
  if (where == nullptr || out == nullptr) return;
  io_threads io;
  const auto n = std::make_shared<notes>();
  const bool is_udp = std::string_view(where).starts_with("udp");
  const auto policy =
      is_udp ? accepting<datagram_session>(
                   n, [](datagram_session& s, incoming m) { std::ignore = s.send(m.bytes); })
             : accepting(n, [](stream_session& s, incoming m) { std::ignore = s.send(m.bytes); });
  auto door = listen(io, at(where), policy);
  REQUIRE(door);
  const std::string line = door->local().to_string() + '\n';
  REQUIRE(::write(std::atoi(out), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  for (;;) ::pause();
}

TEST_CASE("processes: a killed process is reported at once, in mid-message, and may be replaced") {
  scratch_folder folder;
  for (const endpoint& where : {at("tcp://127.0.0.1:0"), at("unix://" + folder.file("socket"))}) {
    io_threads io;
    const auto here = std::make_shared<notes>();
    auto other = std::make_unique<other_process>(where);
    const endpoint there = other->local();
    auto peer = connect(io, there, opening(here));
    REQUIRE(here->wait_for(kind::connected));
    send(*peer, "hello");
    REQUIRE(here->wait_for_messages(1));
    // The other process has no time to read all of this.
    other->signal(SIGSTOP);
    for (int i = 0; i < 100; ++i)
      visit(*peer, [](stream_session& s) { std::ignore = s.send(std::string(100'000, 'x')); });
    other->signal(SIGKILL);
    REQUIRE(here->wait_for(kind::disconnected));
    CHECK(here->look([](const notes::all& a) { return a.last_why(); }) ==
          net_errc::connection_lost);
    other = std::make_unique<other_process>(there);
    const std::size_t before = here->look([](const notes::all& a) { return a.count; });
    visit(*peer, [](stream_session& s) { s.below().reopen(); });
    REQUIRE(here->wait_for(kind::connected, 2));
    send(*peer, "hello again");
    CHECK(here->wait_for_messages(before + 1));
  }
}

TEST_CASE("processes: a stopped process holds nothing up, and goes on where it was") {
  scratch_folder folder;
  for (const endpoint& where : {at("tcp://127.0.0.1:0"), at("unix://" + folder.file("socket"))}) {
    io_threads io;
    const auto here = std::make_shared<notes>();
    other_process other(where);
    auto peer =
        connect(io, other.local(), opening(here), {.high_water = 200'000, .low_water = 100'000});
    REQUIRE(here->wait_for(kind::connected));
    for (std::size_t round = 0; round < 5; ++round) {
      other.signal(SIGSTOP);
      // Send until the stopped end takes no more, and the queue is full.
      std::atomic<std::size_t> sent{0};
      for (std::atomic<bool> is_full{false}; !is_full;) {
        std::atomic<bool> done{false};
        visit(*peer, [&](stream_session& s) {
          is_full = !s.net_link().writable();
          if (!is_full) REQUIRE(!s.send(std::string(50'000, 'x')));
          sent += is_full ? 0u : 1u;
          done = true;
          done.notify_all();
        });
        done.wait(false);
      }
      const std::size_t before = here->look([](const notes::all& a) { return a.count; });
      REQUIRE(sent > 0);
      other.signal(SIGCONT);
      REQUIRE(here->wait_for_messages(before + sent));
    }
    CHECK(here->look([](const notes::all& a) { return a.seen(kind::disconnected); }) == 0);
  }
}

TEST_CASE("processes: a killed peer of datagrams is a hint, and its successor is spoken with") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto other = std::make_unique<other_process>(at("udp://127.0.0.1:0"));
  const endpoint there = other->local();
  auto peer = connect(io, there, opening<datagram_session>(here));
  REQUIRE(here->wait_for(kind::connected));
  send<datagram_session>(*peer, "hello");
  REQUIRE(here->wait_for_messages(1));
  other->signal(SIGKILL);
  send<datagram_session>(*peer, "hello?");
  REQUIRE(here->wait([](const notes::all& a) { return a.hints >= 1; }));
  other = std::make_unique<other_process>(there);
  send<datagram_session>(*peer, "hello again");
  REQUIRE(here->wait_for_messages(2));
  CHECK(here->look([](const notes::all& a) { return a.seen(kind::disconnected); }) == 0);
}

}  // namespace processes_test
