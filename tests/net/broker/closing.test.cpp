// Bytes that were written or put before a stream is closed are sent, and the stream closes in spite
// of visitors and of a full line.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/broker/internal/entries.hpp>
#include <garrick/net/error.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace closing_test {

using namespace garrick;
using namespace garrick::tests;

struct open_to {
  std::string at;
  socket_settings with;
};
struct put {
  connection_handle to;
  std::string text;
};
struct say {
  connection_handle to;
  std::string text;
};
struct shut {
  connection_handle what;
};
struct give {
  connection_handle what;
};
struct say_and_close {
  std::string at;
  std::string text;
  socket_settings with{};
};

/// Sends back all bytes that come.
class heir : public broker<> {
 public:
  explicit heir(bound_connection c) : broker(c.place()) {
    io().read(io().adopt(std::move(c)), receive_policy::at_most(100)).value();
  }
  using broker::on;
  void on(const new_data& d) { io().write(d.connection, d.bytes.bytes()).value(); }
};

/// Carries out the test's orders.
class owner : public broker<result<connection_handle>(open_to), result<int>(put), result<int>(say),
                            void(shut), void(give), void(say_and_close)> {
 public:
  explicit owner(broker_place p) : broker(p) {}
  using broker::on;
  result<connection_handle> on(const open_to& o) {
    if (const auto c = io().connect(o.at, o.with); !c) return c.error();
    opened_ = make_promise<connection_handle>();
    return opened_;
  }
  void on(const new_connection& n) { opened_.deliver(n.connection); }
  result<int> on(const put& p) { return told(io().put(p.to, p.text)); }
  result<int> on(const say& w) { return told(io().write(w.to, w.text)); }
  void on(const shut& s) { io().close(s.what).value(); }
  void on(const give& g) { static_cast<void>(fork<heir>(g.what).value()); }
  void on(const say_and_close& s) {
    const auto c = io().connect(s.at, s.with).value();
    io().write(c, s.text).value();
    io().close(c).value();
  }

 private:
  static result<int> told(const result<void>& r) {
    if (!r) return r.error();
    return 0;
  }
  response_promise<connection_handle> opened_;
};

/// A visitor in a connection, so that others have to wait in line.
class visitor {
 public:
  explicit visitor(const connection_handle& c) {
    const auto e = std::static_pointer_cast<net::internal::connection_entry>(
        net::internal::handle_maker::get(c));
    thread_ = std::thread([this, e] {
      const auto stay = [this](net::hosted&) {
        came_.set_value();
        leaves_.get_future().wait();
      };
      // The I/O thread may be in the connection at first.
      while (e->link.run(stay) != net::visit_result::made) std::this_thread::yield();
    });
    came_.get_future().wait();
  }
  ~visitor() {
    leaves_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> came_, leaves_;
  std::thread thread_;
};

/// A broker on workers, with a connection that lets this many bytes wait in its line.
struct one_stream {
  broker_threads threads;
  actor_system system{quiet()};
  ref<owner::protocol_type> who = system.spawn<owner>(broker_place(threads));
  bare_socket door = bare_socket::listening();
  connection_handle stream;
  bare_socket peer;

  explicit one_stream(std::size_t most_waiting, std::size_t most_queued = 8192)
      : peer(opened(most_waiting, most_queued)) {}

  [[nodiscard]] std::string at() const { return "tcp://127.0.0.1:" + std::to_string(door.port()); }

 private:
  bare_socket opened(std::size_t most_waiting, std::size_t most_queued) {
    socket_settings s;
    s.transport.most_waiting = most_waiting;
    s.transport.high_water = 4096;
    s.transport.low_water = 1024;
    s.transport.most_queued = most_queued;
    s.transport.close_limit = duration::seconds(60);  // 128 MiB on a busy machine
    auto opens = system.request(who, open_to{at(), s});
    bare_socket other = door.accept();
    stream = opens.get().value();
    return other;
  }
};

TEST_CASE("closing: a stream with a full line is closed all the same") {
  one_stream s(0);
  {
    const visitor in(s.stream);
    CHECK(s.system.request(s.who, say{s.stream, "lost"}).get().error() == net_errc::overload);
    CHECK(s.system.request(s.who, put{s.stream, "last words"}).get().has_value());
    s.system.request(s.who, shut{s.stream}).get().value();
  }
  CHECK(s.peer.read(100) == "last words");  // and then its end
}

TEST_CASE("closing: a stream with a full line goes to its next owner") {
  one_stream s(0);
  {
    const visitor in(s.stream);
    s.system.request(s.who, give{s.stream}).get().value();
  }
  s.peer.write("hello");
  CHECK(s.peer.read(5) == "hello");
}

TEST_CASE(
    "closing: a write that is too large in itself is no overload, and others are taken in the "
    "end") {
  one_stream s(100);  // high water is at 4096 bytes, and the limit 8192
  const auto writes = [&](std::size_t n) {
    return s.system.request(s.who, say{s.stream, std::string(n, 'x')}).get().error();
  };
  CHECK(writes(8193) == net_errc::too_large);
  CHECK(writes(8193).to_string().find("transport.most_queued is 8192") != std::string::npos);
  // While the I/O thread sends, a write may be refused for bytes that it has not yet counted as
  // sent.
  const auto writes_in_the_end = [&](std::size_t n) {
    error why = writes(n);
    while (why == net_errc::overload) why = writes(n);
    return why;
  };
  for (int i = 0; i < 100; ++i) {
    REQUIRE(!writes_in_the_end(4000));
    REQUIRE(!writes_in_the_end(8192));
    CHECK(s.peer.read(12192).size() == 12192);
  }
  CHECK(s.system.request(s.who, put{s.stream, std::string(8193, 'x')}).get().error() ==
        net_errc::overload);
  socket_settings bad;
  for (const std::size_t n : {std::size_t{65537}, ~std::size_t{0}}) {
    bad.blocks = n;
    CHECK(s.system.request(s.who, open_to{s.at(), bad}).get().error() == errc::invalid_setting);
  }
  bad = {};
  bad.block_size = (std::size_t{1} << 30) + 1;
  CHECK(s.system.request(s.who, open_to{s.at(), bad}).get().error() == errc::invalid_setting);
}

TEST_CASE("closing: bytes of a put are sent although as many wait as may") {
  constexpr std::size_t most = std::size_t{64} << 20;
  one_stream s(100, most);
  std::size_t written = 0;
  const std::string much(most / 16, 'w');
  while (s.system.request(s.who, say{s.stream, much}).get()) written += much.size();
  CHECK(s.system.request(s.who, put{s.stream, std::string(most, 'p')}).get().has_value());
  s.system.request(s.who, shut{s.stream}).get().value();
  CHECK(s.peer.read(written) == std::string(written, 'w'));
  CHECK(s.peer.read(most + 1) == std::string(most, 'p'));
}

TEST_CASE("closing: written bytes are sent, if the stream was closed before it stood") {
  const bare_socket door = bare_socket::listening();
  const std::string to = "tcp://127.0.0.1:" + std::to_string(door.port());
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    {
      broker_threads threads;
      actor_system system(quiet());
      const auto who =
          on_workers ? system.spawn<owner>(broker_place(threads)) : threads.spawn<owner>(system);
      send(who, say_and_close{to, "all that there is to say"});
    }
    CHECK(door.accept().read(100) == "all that there is to say");
  }
}

TEST_CASE("closing: a stream that gets no answer is given up when its time is over") {
  const bare_socket silent = bare_socket::listening(0);
  const bare_socket fills_it = bare_socket::connected(silent.port());
  broker_threads threads;
  actor_system system(quiet());
  socket_settings s;
  s.transport.attempt_limit = duration::seconds(1000);
  s.transport.close_limit = duration::milliseconds(20);
  const auto who = threads.spawn<owner>(system);
  send(who, say_and_close{"tcp://127.0.0.1:" + std::to_string(silent.port()), "nobody", s});
  CHECK(system.request(who, put{}).get().error() == net_errc::denied);  // the first was handled
  wait_until([&] { return threads.io().load(0) == 0; });
}

}  // namespace closing_test
