#include "garrick/net/testkit/endpoint.hpp"

#include "garrick/net/testkit/internal/host.hpp"

namespace garrick::net::testkit {

endpoint::~endpoint() {
  end_->release();
  end_->close();
}
void endpoint::drive(carried& upper) { end_->drive(upper); }
void endpoint::release() { end_->release(); }
bool endpoint::is_open() const { return end_->is_open(); }
const address& endpoint::local() const { return end_->local(); }
const address& endpoint::peer() const { return end_->peer(); }
void endpoint::transmit(packet bytes) { end_->transmit(std::move(bytes)); }
bool endpoint::writable() const { return end_->writable(); }
std::size_t endpoint::largest() const { return end_->largest(); }
void endpoint::reopen() { end_->reopen(); }
void endpoint::reopen_beside() { end_->reopen_beside(); }
void endpoint::close() { end_->close(); }
bool endpoint::is_closed() const { return end_->is_dead(); }
std::optional<carrier_kind> endpoint::carries() const {
  return end_->takes_datagrams() ? carrier_kind::datagrams : carrier_kind::stream;
}

listener::~listener() { listening_->over = true; }

}  // namespace garrick::net::testkit
