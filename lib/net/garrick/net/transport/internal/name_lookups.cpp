// Looks a name up on a thread of its own, and posts the answer to the loops that wait.
#include "garrick/net/transport/internal/name_lookups.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/platform/platform.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {
namespace {

/// Returns the same addresses with another port.
std::vector<socket_address> with_port(std::vector<socket_address> all, std::uint16_t port) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const std::uint16_t bytes = htons(port);
  for (socket_address& a : all)
    std::memcpy(reinterpret_cast<std::byte*>(&a.bytes) + offsetof(sockaddr_in, sin_port), &bytes,
                sizeof(bytes));
  return all;
}

}  // namespace

void name_lookups::begin(io_loop& loop, const std::string& host, std::uint16_t port,
                         std::shared_ptr<resolution> who, std::uint64_t what) {
  waiter asks{&loop, port, std::move(who), what};
  const std::lock_guard lock(table_->mutex);
  if (const auto at = table_->names.find(host); at != table_->names.end())
    return at->second.push_back(std::move(asks));
  if (table_->names.size() >= most_)
    return answer(asks, {}, "as many names as io_settings::lookups are being looked up");
  const auto at = table_->names.try_emplace(host).first;
  try {
    at->second.push_back(std::move(asks));
    std::thread([in = table_, host] { look_up_host(in, host); }).detach();
  } catch (const std::system_error&) {
    asks = std::move(at->second.front());
    table_->names.erase(at);
    answer(asks, {}, "the system has no thread for a look-up");
  } catch (...) {
    table_->names.erase(at);
    throw;
  }
}

void name_lookups::withdraw(const std::string& host, const resolution& who) noexcept {
  const std::lock_guard lock(table_->mutex);
  const auto at = table_->names.find(host);
  if (at == table_->names.end()) return;
  const auto same = [&who](const waiter& w) { return w.who.get() == &who; };
  // The caller is one of its member functions, so this is not its last handle.
  std::erase_if(at->second, same);
}

void name_lookups::look_up_host(const std::shared_ptr<table>& in,
                                const std::string& host) noexcept {
  base::platform::name_this_thread("garrick.names");
  try {
    std::vector<socket_address> found;
    const int failed = addresses_of(host, 0, found);
    const std::lock_guard lock(in->mutex);
    const auto at = in->names.find(host);
    for (waiter& w : at->second)
      answer(w, with_port(found, w.port), failed != 0 ? ::gai_strerror(failed) : "");
    in->names.erase(at);
  } catch (const std::bad_alloc&) { base::out_of_memory("the addresses of a name"); }
}

void name_lookups::answer(waiter& to, std::vector<socket_address> found, std::string failed) {
  to.loop->post(make_job([who = std::move(to.who), what = to.what, all = std::move(found),
                          why = std::move(failed)]() mutable {
    who->resolved(what, std::move(all), std::move(why));
  }));
}

}  // namespace garrick::net::internal
