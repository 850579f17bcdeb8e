// Your own source and sink: classes with state, a start and an end.
#include <garrick/patterns/patterns.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

using namespace garrick;
using namespace garrick::patterns;

// [source]
class fibonacci {
 public:
  explicit fibonacci(std::uint64_t end) : end_(end) {}
  bool consume(emit<std::uint64_t> out) {  // false: no tuple follows
    if (a_ >= end_) return false;
    out(a_);
    a_ = std::exchange(b_, a_ + b_);
    return true;
  }

 private:
  std::uint64_t a_ = 0;
  std::uint64_t b_ = 1;
  std::uint64_t end_;
};
// [/source]

// [sink]
class table {
 public:
  explicit table(std::string title) : title_(std::move(title)) {}
  void on_start() { std::printf("%s\n", title_.c_str()); }
  void consume(std::uint64_t number) {
    std::printf("%3d %6llu\n", ++line_, (unsigned long long)number);
  }
  void on_stop() { std::printf("%d lines\n", line_); }

 private:
  std::string title_;
  int line_ = 0;
};
// [/sink]

int main() {
  actor_system system;
  // [run]
  const auto stream =
      spawn(system, pipeline(seq<fibonacci>(1000U),
                             filter([](const std::uint64_t& x) { return x % 2 == 1; }),
                             seq<table>("odd Fibonacci numbers")));
  system.request(stream, join{}).get().value();
  // [/run]
}
