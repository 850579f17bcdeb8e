// The common state of a listener and the connections at its door.
//
// Thread safety: constant, except `closed`, which any thread may set.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "garrick/net/transport/accept_policy.hpp"
#include "garrick/net/transport/internal/gate.hpp"
#include "garrick/net/transport/internal/host.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"

namespace garrick::net::internal {

struct reception {
  reception(io_pool& p, io_loop& l, const transport_settings& s, std::shared_ptr<accept_policy> by,
            endpoint at, std::shared_ptr<gate> most)
      : pool(p),
        loop(l),
        settings(s),
        policy(std::move(by)),
        local(std::move(at)),
        limits(std::move(most)) {}

  io_pool& pool;
  io_loop& loop;
  const transport_settings settings;
  const std::shared_ptr<accept_policy> policy;
  const endpoint local;
  const std::shared_ptr<gate> limits;
  std::atomic<bool> closed{false};
};

/// Makes a hosted object by a policy.
class by_policy final : public maker {
 public:
  by_policy(std::shared_ptr<accept_policy> policy, arrival from, std::vector<std::byte> first)
      : policy_(std::move(policy)), from_(std::move(from)), first_(std::move(first)) {
    from_.bytes = first_;
  }
  std::unique_ptr<hosted> make(carrier& below, const connection& self) override {
    return policy_->make(from_, below, self);
  }

 private:
  std::shared_ptr<accept_policy> policy_;
  arrival from_;
  std::vector<std::byte> first_;
};

}  // namespace garrick::net::internal
