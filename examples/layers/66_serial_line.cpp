// Your own transport: a serial line as devices have it, here a pseudo terminal. It carries
// datagrams, and drops those with a wrong checksum. The layers above make each message arrive once
// and in order, over a line full of noise.
#include <garrick/base/time/clock.hpp>
#include <garrick/net/layer/ordering.hpp>
#include <garrick/net/layer/reliability.hpp>
#include <garrick/net/layer/slicing.hpp>
#include <garrick/net/stack/stack.hpp>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace garrick;
using namespace garrick::net;

// [line]
// Datagrams on a line of bytes: each is between two marks, as in RFC 1055, and ends with a
// checksum.
class serial_line final : public carrier {
 public:
  // Takes the file, which does not block. `noise`: the damaged bytes per thousand.
  serial_line(int file, unsigned seed, unsigned noise)
      : file_(file), random_(seed), noise_(noise) {}
  ~serial_line() { ::close(file_); }
  serial_line(const serial_line&) = delete;
  serial_line& operator=(const serial_line&) = delete;

  void transmit(packet datagram) override {
    const auto put = [this](std::byte b) {
      if (b == mark || b == escape) waits_.push_back(escape);
      waits_.push_back(b == mark ? escaped_mark : b == escape ? escaped_escape : b);
    };
    for (const std::byte b : datagram.bytes()) put(b);
    const std::uint32_t sum = checksum(datagram.bytes());
    for (int shift = 0; shift < 32; shift += 8) put(std::byte(sum >> shift));
    waits_.push_back(mark);
  }
  [[nodiscard]] bool writable() const override { return waits_.size() < high_water; }
  [[nodiscard]] std::size_t largest() const override { return 256; }  // one bad byte costs them all
  [[nodiscard]] std::optional<carrier_kind> carries() const override {
    return carrier_kind::datagrams;
  }
  void reopen() override {}  // datagrams need no connection
  void close() override { closed_ = true; }
  [[nodiscard]] bool is_closed() const override { return closed_; }

  // Returns the events that the loop waits for.
  [[nodiscard]] pollfd wants() const {
    return {file_, static_cast<short>(waits_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }
  // Reads as much as possible and passes the packets to `upper`, lets it act if its deadline has
  // come, and writes as much as possible.
  void turn(carried& upper, base::instant now) {
    std::array<std::byte, 512> some{};
    for (ssize_t n; (n = ::read(file_, some.data(), some.size())) > 0;)
      for (const std::byte b : std::span(some).first(static_cast<std::size_t>(n)))
        take(random_() % 1000 < noise_ ? b ^ std::byte{0x10} : b, upper, now);
    if (upper.deadline() <= now) upper.advance(now);
    const bool was_full = !writable();
    const ssize_t n = ::write(file_, waits_.data(), waits_.size());
    if (n > 0) waits_.erase(waits_.begin(), waits_.begin() + n);
    if (was_full && writable()) upper.carrier_writable(now);
  }
  [[nodiscard]] unsigned dropped() const { return dropped_; }

 private:
  static constexpr std::byte mark{0xc0}, escape{0xdb}, escaped_mark{0xdc}, escaped_escape{0xdd};
  static constexpr std::size_t high_water = 4096;  // bytes
  static constexpr std::size_t longest = 256 + 4;  // bytes without a mark are not kept for ever

  static std::uint32_t checksum(std::span<const std::byte> bytes) {
    boost::crc_32_type sum;
    sum.process_bytes(bytes.data(), bytes.size());
    return sum.checksum();
  }
  void take(std::byte b, carried& upper, base::instant now) {
    if (b == mark) return end_of_datagram(upper, now);
    if (b == escape && !std::exchange(escaped_, true)) return;
    if (std::exchange(escaped_, false))
      b = b == escaped_mark ? mark : b == escaped_escape ? escape : b;
    if (came_.size() <= longest) came_.push_back(b);
  }
  void end_of_datagram(carried& upper, base::instant now) {
    escaped_ = false;
    std::vector<std::byte> whole = std::exchange(came_, {});
    if (whole.empty()) return;
    std::uint32_t sum = 0;
    bool good = whole.size() >= 4 && whole.size() <= longest;
    if (good) {
      for (std::size_t i = 4; i-- != 0;)
        sum = sum << 8 | std::to_integer<std::uint32_t>(whole[whole.size() - 4 + i]);
      whole.resize(whole.size() - 4);
      good = sum == checksum(whole);
    }
    if (!good) return static_cast<void>(++dropped_);
    upper.receive(whole, now);
  }

  int file_;
  std::mt19937 random_;
  unsigned noise_;
  std::vector<std::byte> waits_, came_;
  bool escaped_ = false;
  bool closed_ = false;
  unsigned dropped_ = 0;
};
// [/line]

// [end]
using line_stack = stack<datagrams, slicing, ordering, reliability>;

class end final : public link_owner {
 public:
  end(int file, unsigned seed, unsigned noise)
      : line(file, seed, noise), link(*this, line, slicing(), ordering(), reliability()) {
    link.connected(base::real_clock().now());
  }
  bool on_message(const incoming& m) override {
    const auto* text = reinterpret_cast<const char*>(m.bytes.data());
    came.emplace_back(text, m.bytes.size());
    return true;
  }
  void on_event(const link_event&) override {}

  serial_line line;
  line_stack link;
  std::vector<std::string> came;
};
// [/end]

// Both ends of a line that passes bytes on as they are.
std::pair<int, int> open_line() {
  const int here = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (here < 0 || ::grantpt(here) != 0 || ::unlockpt(here) != 0)
    throw std::system_error(errno, std::generic_category(), "a pseudo terminal");
  const int there = ::open(::ptsname(here), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (there < 0) throw std::system_error(errno, std::generic_category(), "its other end");
  termios raw{};
  ::tcgetattr(there, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(there, TCSANOW, &raw);
  return {here, there};
}

int main() {
  const auto [near, far] = open_line();
  end sensor(near, 1, 2);
  end station(far, 2, 2);
  constexpr std::size_t reports = 200;
  const auto report = [](std::size_t i) {
    return "report " + std::to_string(i) + ": " + std::string(i % 50 * 20, '#');
  };

  std::size_t sent = 0;
  const base::instant late = base::real_clock().now() + base::duration::seconds(30);
  while (station.came.size() < reports && base::real_clock().now() < late) {
    while (sent < reports && sensor.link.writable()) {
      const std::string text = report(sent);
      packet bytes = packet::copy_of(std::as_bytes(std::span(text)), sensor.link.header_size());
      if (sensor.link.send({std::move(bytes)}, base::real_clock().now())) return 1;
      ++sent;
    }
    // [loop]
    std::array<pollfd, 2> files{sensor.line.wants(), station.line.wants()};
    const base::instant first = std::min(sensor.link.deadline(), station.link.deadline());
    const std::int64_t ms = (first - base::real_clock().now()).count() / 1'000'000 + 1;
    ::poll(files.data(), files.size(), static_cast<int>(std::clamp<std::int64_t>(ms, 0, 1000)));
    sensor.line.turn(sensor.link, base::real_clock().now());
    station.line.turn(station.link, base::real_clock().now());
    // [/loop]
  }

  bool in_order = station.came.size() == reports;
  for (std::size_t i = 0; in_order && i < reports; ++i) in_order = station.came[i] == report(i);
  std::printf("%zu reports, each once and in order: %s\n", station.came.size(),
              in_order ? "yes" : "no");
  std::printf("damaged on the way: %s\n", station.line.dropped() > 10 ? "many" : "few");
}
