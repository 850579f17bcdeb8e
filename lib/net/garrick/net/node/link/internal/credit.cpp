#include <garrick/net/node/link/internal/credit.hpp>

namespace garrick::net::internal {

void credit::lost(const entry& e, const base::error& why) const {
  senders_.env().dead_letter({.sender = e.sender,
                              .receiver = e.receiver,
                              .type = e.type->name,
                              .descriptor = e.type,
                              .reason = why});
}

void credit::end(const base::error& why) {
  releases_.clear();
  while (!under_way_.empty()) settle(first_, why);
  give_back();
}

}  // namespace garrick::net::internal
