#include "garrick/net/transport/internal/last_words.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {
namespace {

class last_words final : public resident,
                         public completion,
                         public ticket_holder,
                         public std::enable_shared_from_this<last_words> {
 public:
  last_words(io_loop& loop, std::unique_ptr<io_socket> socket, send_queue queue,
             std::unique_ptr<ticket> place)
      : loop_(loop),
        place_(std::move(place)),
        socket_(std::move(socket)),
        queue_(std::move(queue)) {
    loop_.count_unsaid(1);
  }
  ~last_words() override { is_said(); }

  void begin(base::instant until) {
    // A link whose place a newcomer got is closed at once.
    if (place_ != nullptr && !place_->hold(weak_from_this())) return leave();
    timer_ = std::make_unique<io_timer>(loop_);
    timer_->expire_at(until, shared_from_this(), expired);
    socket_->read(dropped_, shared_from_this(), reading);
    send();
  }
  void stop() override { leave(); }
  void give_way() noexcept override {
    if (loop_.is_current()) return leave();
    try {
      loop_.post(make_job([me = shared_from_this()] { me->leave(); }));
    } catch (const std::bad_alloc&) {
      return;  // it leaves when its time is over
    }
  }
  void completed(std::uint64_t what, int failed, std::size_t bytes) override {
    if (socket_ == nullptr) return;
    if (what == expired || failed != 0) return leave();
    if (what == writing) return send();
    if (bytes == 0) {  // the other end sends no more, but it may read on
      reading_over_ = true;
      return queue_.empty() ? leave() : void();
    }
    socket_->read(dropped_, shared_from_this(), reading);
  }

 private:
  enum operation : std::uint64_t { expired, reading, writing };

  void send() {
    int failed = 0;
    while (!queue_.empty()) {
      const std::ptrdiff_t sent = send_stream(socket_->fd(), queue_.waiting(), failed);
      if (sent >= 0)
        queue_.sent(static_cast<std::size_t>(sent));
      else if (failed == EAGAIN)
        return socket_->wait_writable(shared_from_this(), writing);
      else
        return leave();
    }
    is_said();
    if (reading_over_) return leave();
    ::shutdown(socket_->fd(), SHUT_WR);
  }
  void is_said() noexcept {
    if (!std::exchange(is_said_, true)) loop_.count_unsaid(-1);
  }
  void leave() noexcept {
    is_said();
    if (socket_ == nullptr) return;
    socket_.reset();
    place_.reset();
    timer_.reset();
    loop_.remove(*this);
  }

  io_loop& loop_;
  std::unique_ptr<ticket> place_;  ///< null: this end has opened the connection
  std::unique_ptr<io_socket> socket_;
  send_queue queue_;
  std::unique_ptr<io_timer> timer_;
  bool reading_over_ = false;
  bool is_said_ = false;
  std::array<std::byte, 4096> dropped_;
};

}  // namespace

void say_last_words(io_loop& loop, std::unique_ptr<io_socket> socket, send_queue queue,
                    base::instant until, std::unique_ptr<ticket> place) noexcept {
  try {
    // The link's read is still under way: a released descriptor has none.
    auto same = std::make_unique<io_socket>(loop, socket->release());
    const auto last =
        std::make_shared<last_words>(loop, std::move(same), std::move(queue), std::move(place));
    if (loop.add(last)) last->begin(until);
  } catch (const std::exception&) {
    return;  // without memory the stream is closed at once
  }
}

}  // namespace garrick::net::internal
