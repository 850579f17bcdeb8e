// A tree of supervisors: a supervisor that cannot repair a failure fails itself, and the next one
// restarts the whole branch.
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

struct job {
  int number;
};
using worker = garrick::protocol<std::string(job)>;

class worker_actor : public garrick::actor<worker> {
 public:
  explicit worker_actor(std::string name) : name_(std::move(name)) {}
  void on_start() { std::printf("%s starts\n", name_.c_str()); }
  std::string on(job j) {
    if (j.number < 0) throw std::runtime_error("no such job");
    return name_ + " has done job " + std::to_string(j.number);
  }

 private:
  std::string name_;
};

// [find]
// A restarted branch has new children, so the program finds them when it needs them. The found
// handle is a wildcard; `request_typed` makes it a typed one.
garrick::ref<worker> painter(garrick::testkit::test_system& kit,
                             const garrick::ref<garrick::supervisor_protocol>& top) {
  using garrick::find_child;
  const auto branch = kit.request(top, find_child{"painters"}).get().value();
  const auto typed = kit.request_typed<garrick::supervisor_protocol>(branch).get().value();
  const auto found = kit.request(typed, find_child{"Pia"}).get().value();
  return kit.request_typed<worker>(found).get().value();
}
// [/find]

int main() {
  garrick::testkit::test_system kit(1);
  using garrick::child, garrick::child_options, garrick::supervision, garrick::supervisor;
  // [tree]
  // The branch forgives one failure. The top forgives three failures of branches.
  const auto top = kit.spawn<supervisor>(
      supervision{.max_restarts = 3},
      child<supervisor>(child_options{.name = "painters"}, supervision{.max_restarts = 1},
                        child<worker_actor>(child_options{.name = "Pia"}, std::string("Pia"))));
  // [/tree]
  kit.run();
  std::printf("%s\n", kit.request(painter(kit, top), job{1}).get().value().c_str());
  for (int failure = 1; failure <= 2; ++failure) {
    std::printf("-- failure %d --\n", failure);
    send(painter(kit, top), job{-1});
    kit.run();
  }
  std::printf("%s\n", kit.request(painter(kit, top), job{2}).get().value().c_str());
}
