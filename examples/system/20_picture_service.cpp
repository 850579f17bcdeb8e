// A typical service: a pool of workers behind one handle, found by its name. Its results are
// published to all interested actors.
#include <garrick/garrick.hpp>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

constexpr int height = 21;
constexpr int width = 64;

struct paint {
  int row;
};
struct painted {
  int row;
  std::string dots;
};

using painter = garrick::protocol<std::string(paint)>;
using gallery = garrick::protocol<void(painted)>;

/// One row of the Mandelbrot set.
std::string row_of_dots(int row) {
  std::string dots;
  for (int column = 0; column < width; ++column) {
    const std::complex<double> c(-2.1 + 3.0 * column / width, -1.1 + 2.2 * row / (height - 1));
    std::complex<double> z;
    int steps = 0;
    while (std::norm(z) <= 4.0 && steps < 200) {
      z = z * z + c;
      ++steps;
    }
    dots += steps == 200 ? '#' : steps > 12 ? '*' : steps > 5 ? '.' : ' ';
  }
  dots.erase(dots.find_last_not_of(' ') + 1);
  return dots;
}

// [painter]
class painter_actor : public garrick::actor<painter> {
 public:
  std::string on(paint p) {
    std::string dots = row_of_dots(p.row);
    show_.publish(painted{p.row, dots});  // to all members of the group
    return dots;
  }

 private:
  garrick::group<gallery> show_ = garrick::groups_of(*this).get<gallery>("show").value();
};
// [/painter]

// [studio]
using painters = garrick::router<painter, garrick::least_loaded>;

// The pool's front: an actor, since only an actor can have a name. The painter answers the customer
// directly, not through this actor.
class studio_actor : public garrick::actor<painter> {
 public:
  explicit studio_actor(painters all) : painters_(std::move(all)) {}
  garrick::result<std::string> on(paint p) { return delegate(painters_, p); }

 private:
  painters painters_;
};
// [/studio]

struct whole_picture {};
struct verdict {};

// [members]
// Hangs up the rows in their order, in whatever order they arrive.
class wall_actor
    : public garrick::actor<garrick::protocol<void(painted), std::string(whole_picture)>> {
 public:
  void on(painted p) {
    rows_[static_cast<std::size_t>(p.row)] = std::move(p.dots);
    if (++hung_ == height && visitor_.pending()) visitor_.deliver(picture());
  }
  garrick::result<std::string> on(whole_picture) {
    if (hung_ == height) return picture();
    visitor_ = make_promise<std::string>();  // answered as soon as the picture is complete
    return visitor_;
  }

 private:
  std::string picture() const {
    std::string all;
    for (const std::string& row : rows_) all += row + "\n";
    return all;
  }
  std::vector<std::string> rows_{height};
  int hung_ = 0;
  garrick::response_promise<std::string> visitor_;
};

// Uses the same rows in another way.
class critic_actor : public garrick::actor<garrick::protocol<void(painted), std::string(verdict)>> {
 public:
  void on(const painted& p) { black_ += std::count(p.dots.begin(), p.dots.end(), '#'); }
  std::string on(verdict) const { return std::to_string(black_) + " dots are black. Too dark."; }

 private:
  std::ptrdiff_t black_ = 0;
};
// [/members]

// [customer]
// Knows only a name and a protocol.
class customer_actor
    : public garrick::actor<garrick::protocol<garrick::result<void>(garrick::atom<"buy">)>> {
 public:
  garrick::result<void> on(garrick::atom<"buy">) {
    const auto studio = garrick::registry_of(*this).get<painter>("studio");
    if (!studio) return studio.error();
    for (int row = 0; row < height; ++row) send(*studio, paint{row});
    return {};
  }
};
// [/customer]

int main() {
  garrick::actor_system system;
  const auto customer = system.spawn<customer_actor>();
  const auto too_early = system.request(customer, garrick::atom<"buy">()).get();
  std::printf("%s\n", too_early.error().to_string().c_str());

  // [open]
  const auto show = system.groups().get<gallery>("show");
  const auto critic = system.spawn<critic_actor>();
  const auto wall = system.spawn<wall_actor>();
  show->join(critic).value();
  show->join(wall).value();

  const auto pool = garrick::spawn_pool<painter_actor, garrick::least_loaded>(
      system, garrick::spawn_options{.name = "painter"}, 4);
  system.registry().put("studio", system.spawn<studio_actor>(pool)).value();
  // [/open]

  system.request(customer, garrick::atom<"buy">()).get().value();
  std::printf("%s", system.request(wall, whole_picture{}).get().value().c_str());
  std::printf("%s\n",
              // the critic joined before the wall, so it got each row first
              system.request(critic, verdict{}).get().value().c_str());
}
