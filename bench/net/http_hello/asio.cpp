// Bare Asio: a thread with an io_context answers each request.
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "net/http_hello/hello.hpp"

namespace {

using boost::asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
 public:
  explicit session(tcp::socket s) : socket_(std::move(s)) {
    socket_.set_option(tcp::no_delay(true));
  }
  void read() {
    socket_.async_read_some(boost::asio::buffer(bytes_),
                            [me = shared_from_this()](auto failed, std::size_t n) {
                              if (!failed) me->answer(n);
                            });
  }

 private:
  void answer(std::size_t n) {
    answers_.clear();
    for (std::size_t i = bench::requests_in({bytes_.data(), n}, tail_); i != 0; --i)
      answers_ += bench::hello_answer;
    boost::asio::async_write(socket_, boost::asio::buffer(answers_),
                             [me = shared_from_this()](auto failed, std::size_t) {
                               if (!failed) me->read();
                             });
  }
  tcp::socket socket_;
  std::array<char, 65536> bytes_{};
  std::string tail_, answers_;
};

void accept(tcp::acceptor& at) {
  at.async_accept([&at](auto failed, tcp::socket s) {
    if (failed) return;
    std::make_shared<session>(std::move(s))->read();
    accept(at);
  });
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t requests = args.number("requests", 200'000);
  const int connections = static_cast<int>(args.number("connections", 16));
  args.reject_unknown();
  boost::asio::io_context io{1};
  tcp::acceptor at(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  accept(at);
  std::thread server([&io] { io.run(); });
  out.items = load(at.local_endpoint().port(), connections, requests, out);
  io.stop();
  server.join();
  out.expect("answers", requests, out.items);
}
