// Runs two programs, each in a network of its own, with one link between them that loses, delays
// and limits packets by a seed.
//
//   lossy_link [--loss PERCENT] [--delay TIME] [--jitter TIME] [--duplicate PERCENT]
//              [--reorder PERCENT] [--rate BITS] [--queue PACKETS] [--mtu BYTES] [--seed N]
//              [--both-end] -- FIRST… ::: SECOND…
//
// FIRST is at 10.77.0.1 and fd77::1, SECOND at 10.77.0.2 and fd77::2. Each loses its namespace with
// its end. The exit status is that of SECOND, usually the client, after which FIRST is ended by
// SIGTERM; with --both-end both are waited for, and the first status that is not zero counts.
//
// The kernel of the machines that this was written on has no netem. So each end has a TUN device,
// and this program is the cable: whole IP packets come out of one and go, or do not go, into the
// other. All protocols over IP are treated alike. It needs root or unprivileged user namespaces,
// and /dev/net/tun; the exit status is 77 if they are missing, which CTest takes for "skipped".
//
// Times are numbers with a unit: us, ms, s. A rate takes k and M. Loss, delay and rate are those of
// each direction.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;
constexpr int skipped = 77;

[[noreturn]] void stop(const std::string& why, int status = 2) {
  std::fprintf(stderr, "lossy_link: %s\n", why.c_str());
  std::exit(status);
}
[[noreturn]] void stop_for_errno(const std::string& what, int status = 2) {
  stop(what + ": " + std::strerror(errno), status);
}

struct settings {
  double loss = 0;  // of 1
  double duplicate = 0;
  double reorder = 0;
  nanoseconds delay{};
  nanoseconds jitter{};
  double bytes_a_second = 0;  // 0: no limit
  std::size_t queue = 1000;   // packets that wait for the rate
  int mtu = 1500;
  std::uint64_t seed = 1;
  bool both_end = false;
  std::vector<char*> first, second;
};

double number(std::string_view option, std::string_view text, std::string_view& unit) {
  const std::string copy(text);
  char* end = nullptr;
  const double x = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || x < 0) stop(std::string(option) + " wants a number, not " + copy);
  unit = text.substr(static_cast<std::size_t>(end - copy.c_str()));
  return x;
}
double percent(std::string_view option, std::string_view text) {
  std::string_view unit;
  const double x = number(option, text, unit);
  if (x > 100 || !(unit.empty() || unit == "%")) stop(std::string(option) + " is 0 to 100 percent");
  return x / 100;
}
nanoseconds time(std::string_view option, std::string_view text) {
  std::string_view unit;
  const double x = number(option, text, unit);
  const double factor = unit == "us"   ? 1e3
                        : unit == "ms" ? 1e6
                        : unit == "s"  ? 1e9
                        : x == 0       ? 1
                                       : 0;
  if (factor == 0) stop(std::string(option) + " wants a time in us, ms or s");
  return nanoseconds(static_cast<std::int64_t>(x * factor));
}
double rate(std::string_view option, std::string_view text) {
  std::string_view unit;
  const double x = number(option, text, unit);
  const double factor = unit.empty() ? 1 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : 0;
  if (factor == 0) stop(std::string(option) + " wants bits a second, with k or M");
  return x * factor / 8;
}

settings parse(int argc, char** argv) {
  settings s;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view option = argv[i];
    if (option == "--both-end") {
      s.both_end = true;
      continue;
    }
    if (i + 1 == argc) stop("there is no value behind " + std::string(option));
    const std::string_view value = argv[++i];
    std::string_view unit;
    if (option == "--loss")
      s.loss = percent(option, value);
    else if (option == "--duplicate")
      s.duplicate = percent(option, value);
    else if (option == "--reorder")
      s.reorder = percent(option, value);
    else if (option == "--delay")
      s.delay = time(option, value);
    else if (option == "--jitter")
      s.jitter = time(option, value);
    else if (option == "--rate")
      s.bytes_a_second = rate(option, value);
    else if (option == "--queue")
      s.queue = static_cast<std::size_t>(number(option, value, unit));
    else if (option == "--mtu")
      s.mtu = static_cast<int>(number(option, value, unit));
    else if (option == "--seed")
      s.seed = static_cast<std::uint64_t>(number(option, value, unit));
    else
      stop("there is no option " + std::string(option));
  }
  std::vector<char*>* program = &s.first;
  for (++i; i < argc; ++i) {
    if (std::string_view(argv[i]) == ":::" && program == &s.first)
      program = &s.second;
    else
      program->push_back(argv[i]);
  }
  if (s.first.empty() || s.second.empty()) stop("wanted: … -- FIRST… ::: SECOND…");
  s.first.push_back(nullptr);
  s.second.push_back(nullptr);
  return s;
}

void write_file(const char* path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) stop_for_errno(std::string("cannot write ") + path, skipped);
}

/// A user other than root becomes root of a namespace of users, where networks may be made.
void become_root() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user == 0) return;
  if (::unshare(CLONE_NEWUSER) != 0) stop_for_errno("no namespace of users", skipped);
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
  write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
}

void bring_up(int control, const char* name, short more_flags) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (::ioctl(control, SIOCGIFFLAGS, &request) != 0) stop_for_errno("SIOCGIFFLAGS");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | more_flags);
  if (::ioctl(control, SIOCSIFFLAGS, &request) != 0) stop_for_errno("SIOCSIFFLAGS");
}

/// In the network that this process is in: one end of the link, with its addresses. The file
/// descriptor carries whole IP packets.
int make_end(int number, int mtu) {
  const int device = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) stop_for_errno("/dev/net/tun", skipped);
  ifreq request{};
  std::strncpy(request.ifr_name, "link0", IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(device, TUNSETIFF, &request) != 0) stop_for_errno("TUNSETIFF", skipped);

  const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) stop_for_errno("socket");
  auto* address = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  std::memset(address, 0, sizeof(request.ifr_addr));
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(0x0a4d0000u + static_cast<std::uint32_t>(number));
  if (::ioctl(control, SIOCSIFADDR, &request) != 0) stop_for_errno("SIOCSIFADDR");
  address->sin_addr.s_addr = htonl(0xffffff00u);
  if (::ioctl(control, SIOCSIFNETMASK, &request) != 0) stop_for_errno("SIOCSIFNETMASK");
  request.ifr_mtu = mtu;
  if (::ioctl(control, SIOCSIFMTU, &request) != 0) stop_for_errno("SIOCSIFMTU");
  bring_up(control, "link0", 0);
  bring_up(control, "lo", 0);
  if (::ioctl(control, SIOCGIFINDEX, &request) != 0) stop_for_errno("SIOCGIFINDEX");

  const int control6 = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control6 >= 0) {  // a kernel without IPv6 has the other address
    in6_ifreq six{};
    ::inet_pton(AF_INET6, number == 1 ? "fd77::1" : "fd77::2", &six.ifr6_addr);
    six.ifr6_prefixlen = 64;
    six.ifr6_ifindex = request.ifr_ifindex;
    if (::ioctl(control6, SIOCSIFADDR, &six) != 0) std::perror("lossy_link: no IPv6 on the link");
    ::close(control6);
  }
  ::close(control);
  return device;
}

struct end_of_link {
  pid_t program = -1;
  int device = -1;
};

/// Makes a network with one end of the link, and starts the program in it.
end_of_link start(int number, int mtu, std::vector<char*>& command) {
  const int home = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home < 0) stop_for_errno("/proc/self/ns/net", skipped);
  if (::unshare(CLONE_NEWNET) != 0) stop_for_errno("no namespace of networks", skipped);
  end_of_link made;
  made.device = make_end(number, mtu);
  const pid_t parent = ::getpid();
  made.program = ::fork();
  if (made.program < 0) stop_for_errno("fork");
  if (made.program == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(2);
    ::execvp(command[0], command.data());
    std::fprintf(stderr, "lossy_link: cannot run %s: %s\n", command[0], std::strerror(errno));
    ::_exit(127);
  }
  if (::setns(home, CLONE_NEWNET) != 0) stop_for_errno("setns");
  ::close(home);
  return made;
}

/// One direction of the link.
class direction {
 public:
  direction(const settings& s, std::uint64_t salt) : settings_(s), random_(s.seed * 2 + salt) {}

  /// A packet has come out of one end.
  void take(std::vector<char> bytes, steady::time_point now) {
    ++taken_;
    if (chance(settings_.loss)) return ++lost_, void();
    const bool twice = chance(settings_.duplicate);
    steady::time_point leaves = now;
    if (settings_.bytes_a_second > 0) {
      free_at_ = std::max(free_at_, now);
      const double waits = std::chrono::duration<double>(free_at_ - now).count();
      if (waits * settings_.bytes_a_second > static_cast<double>(settings_.queue) * 1500.0)
        return ++overflowed_, void();
      free_at_ += nanoseconds(static_cast<std::int64_t>(static_cast<double>(bytes.size()) /
                                                        settings_.bytes_a_second * 1e9));
      leaves = free_at_;
    }
    if (twice) put(bytes, leaves);
    put(std::move(bytes), leaves);
  }
  [[nodiscard]] bool waits() const { return !under_way_.empty(); }
  [[nodiscard]] steady::time_point next() const { return under_way_.top().due; }
  /// Gives due packets to the other end. Packets that it does not take are lost.
  void deliver(int device, steady::time_point now) {
    for (; !under_way_.empty() && under_way_.top().due <= now; under_way_.pop()) {
      const std::vector<char>& bytes = under_way_.top().bytes;
      if (::write(device, bytes.data(), bytes.size()) < 0) ++overflowed_;
    }
  }
  void tell(const char* name) const {
    std::fprintf(stderr, "lossy_link: %s: %lu packets, %lu lost, %lu too many\n", name, taken_,
                 lost_, overflowed_);
  }

 private:
  struct packet {
    steady::time_point due;
    std::uint64_t number;
    std::vector<char> bytes;
    bool operator<(const packet& other) const {
      return due != other.due ? due > other.due : number > other.number;
    }
  };
  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }
  void put(std::vector<char> bytes, steady::time_point leaves) {
    steady::time_point due = leaves + settings_.delay;
    if (settings_.jitter.count() > 0)
      due += nanoseconds(
          static_cast<std::int64_t>(random_() % std::uint64_t(settings_.jitter.count())));
    // Jitter alone does not change the order: a cable is a queue.
    if (chance(settings_.reorder))
      due += settings_.jitter + settings_.delay / 2 + std::chrono::microseconds(200);
    else
      due = last_ = std::max(due, last_);
    under_way_.push({due, ++number_, std::move(bytes)});
  }

  const settings& settings_;
  std::mt19937_64 random_;
  std::priority_queue<packet> under_way_;
  steady::time_point free_at_{};
  steady::time_point last_{};
  std::uint64_t number_ = 0;
  unsigned long taken_ = 0, lost_ = 0, overflowed_ = 0;
};

/// Everything that waits at one end goes into the direction.
void empty(int device, direction& d) {
  std::array<char, 65536> buffer;
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = ::read(device, buffer.data(), buffer.size());
    if (n <= 0) return;
    d.take({buffer.begin(), buffer.begin() + n}, steady::now());
  }
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The exit status, once the programs have ended as far as is asked.
struct outcome {
  const settings& s;
  const end_of_link& first;
  const end_of_link& second;
  int first_status = -1, second_status = -1;

  [[nodiscard]] bool over() {
    int status = 0;
    for (pid_t ended; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
      (ended == first.program ? first_status : second_status) = status_of(status);
    return s.both_end ? first_status >= 0 && second_status >= 0 : second_status >= 0;
  }
  [[nodiscard]] int status() const {
    return s.both_end && first_status != 0 ? first_status : second_status;
  }
};

int carry(const settings& s, const end_of_link& first, const end_of_link& second) {
  direction there(s, 0), back(s, 1);
  outcome ends{s, first, second};
  while (!ends.over()) {
    const steady::time_point now = steady::now();
    there.deliver(second.device, now);
    back.deliver(first.device, now);
    timespec wait{0, 100'000'000};
    for (const direction* d : {&there, &back}) {
      if (!d->waits()) continue;
      const auto left = std::max<std::int64_t>(0, nanoseconds(d->next() - now).count());
      if (left < wait.tv_nsec) wait.tv_nsec = left;
    }
    std::array<pollfd, 2> devices{{{first.device, POLLIN, 0}, {second.device, POLLIN, 0}}};
    if (::ppoll(devices.data(), devices.size(), &wait, nullptr) <= 0) continue;
    if (devices[0].revents != 0) empty(first.device, there);
    if (devices[1].revents != 0) empty(second.device, back);
  }
  if (ends.first_status < 0) {
    ::kill(first.program, SIGTERM);
    ::waitpid(first.program, nullptr, 0);
  }
  if (std::getenv("LOSSY_LINK_TELLS") != nullptr) {
    there.tell("first to second");
    back.tell("second to first");
  }
  return ends.status();
}

}  // namespace

int main(int argc, char** argv) {
  settings s = parse(argc, argv);
  become_root();
  ::signal(SIGCHLD, [](int) {});  // a wait for packets ends with it
  ::prctl(PR_SET_TIMERSLACK, 1);  // waits end when they should, not 50 µs later
  const end_of_link first = start(1, s.mtu, s.first);
  const end_of_link second = start(2, s.mtu, s.second);
  return carry(s, first, second);
}
