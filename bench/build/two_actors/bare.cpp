// The yardstick for a small static program: the size of a thread and an exception alone.
#include <cstdio>
#include <stdexcept>
#include <thread>

int main(int argc, char**) {
  int answer = 0;
  std::thread other([&] {
    try {
      if (argc > 0) throw std::runtime_error("expected");
    } catch (const std::exception&) { answer = 42; }
  });
  other.join();
  std::printf("answer %d\n", answer);
  return answer == 42 ? 0 : 1;
}
