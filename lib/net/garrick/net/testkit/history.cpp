#include "garrick/net/testkit/history.hpp"

#include <utility>

namespace garrick::net::testkit {

void network_history::mix(std::string_view text) noexcept {
  for (const char c : text) mix(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
}

void network_history::keep(event e) {
  ++count_;
  mix(static_cast<std::uint64_t>(e.when.since_beginning().count()));
  if (kept_ == 0) return;
  if (events_.size() == kept_) events_.pop_front();
  events_.push_back(std::move(e));
}

void network_history::add(base::instant when, std::uint32_t from, std::uint32_t to,
                          const char* what, std::uint64_t number, std::uint64_t size) {
  mix(std::string_view(what));
  mix(std::uint64_t{from} << 32 | to);
  mix(number);
  mix(size);
  keep({when, from, to, what, number, size, {}});
}

void network_history::count(base::instant when, std::uint32_t host) noexcept {
  ++count_;
  mix(static_cast<std::uint64_t>(when.since_beginning().count()));
  mix(host);
}

void network_history::add(base::instant when, std::string text) {
  mix(std::string_view(text));
  keep({when, 0, 0, nullptr, 0, 0, std::move(text)});
}

std::string network_history::to_string() const {
  std::string out;
  if (!events_.empty()) out = "\n  the last events of the network, newest last:";
  for (const event& e : events_) {
    out += "\n    " + e.when.to_string() + "  ";
    if (e.what == nullptr) {
      out += e.text;
      continue;
    }
    out += names_.at(e.from) + " > " + names_.at(e.to) + "  " + e.what;
    if (e.number != 0) out += " #" + std::to_string(e.number);
    if (e.size != 0) out += ", " + std::to_string(e.size) + " bytes";
  }
  return out;
}

}  // namespace garrick::net::testkit
