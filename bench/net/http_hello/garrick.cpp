// A broker on an I/O thread answers each request.
#include <garrick/net/broker/broker.hpp>

#include <atomic>
#include <map>
#include <string>

#include "common/garrick_system.hpp"
#include "net/http_hello/hello.hpp"

namespace {

using namespace garrick;

class server : public net::broker<> {
 public:
  server(net::broker_place where, std::atomic<int>& port) : broker(where) {
    port =
        io().local(io().listen("tcp://127.0.0.1:0", {.read = net::receive_policy::at_most(65536)})
                       .value())
            .port();
  }
  using broker::on;
  void on(const net::new_data& d) {
    for (std::size_t n = bench::requests_in(d.bytes.text(), tails_[d.connection]); n != 0; --n)
      io().put(d.connection, bench::hello_answer).value();
    io().flush(d.connection).value();
  }
  void on(const net::connection_closed& c) { tails_.erase(c.connection); }

 private:
  std::map<net::connection_handle, std::string> tails_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t requests = args.number("requests", 200'000);
  const int connections = static_cast<int>(args.number("connections", 16));
  const bool on_workers = args.number("on_workers", 0) != 0;
  net::broker_threads threads;
  double seconds = 0;
  static_cast<void>(run_system(args, [&](actor_system& system) {
    std::atomic<int> port{0};
    const any_ref s(on_workers ? system.spawn<server>(net::broker_place(threads), lent(port))
                               : threads.spawn<server>(system, lent(port)));
    out.items = load(port, connections, requests, out);
    seconds = out.seconds;
  }));
  out.seconds = seconds;
  out.expect("answers", requests, out.items);
}
