// The end of a closed stream: waiting bytes are still sent, and arriving bytes are read and dropped
// until the other end closes, too. A socket that is closed with unread bytes resets the
// connection, and the reset may overtake the last bytes that were sent.
#pragma once

#include <memory>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/internal/gate.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/send_queue.hpp"

namespace garrick::net::internal {

/// Takes the socket, and the place that it has among a listener's connections until it is closed.
/// On the loop's thread.
void say_last_words(io_loop& loop, std::unique_ptr<io_socket> socket, send_queue queue,
                    base::instant until, std::unique_ptr<ticket> place) noexcept;

}  // namespace garrick::net::internal
