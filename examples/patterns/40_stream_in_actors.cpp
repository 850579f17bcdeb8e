// A stream among actors: one actor feeds it, and another gets its results.
#include <garrick/patterns/patterns.hpp>

#include <cctype>
#include <cstdio>
#include <string>
#include <utility>

using namespace garrick;
using namespace garrick::patterns;

struct line {
  std::string text;
};
struct shout {
  std::string text;
};

line trimmed(line l) {
  while (!l.text.empty() && l.text.back() == ' ') l.text.pop_back();
  return l;
}
shout louder(line l) {
  for (char& c : l.text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return {l.text + "!"};
}

// [actors]
class printer : public actor<protocol<void(shout)>> {
 public:
  void on(const shout& s) { std::puts(s.text.c_str()); }
};

class reader : public actor<protocol<void(line), result<void>(end_of_stream)>> {
 public:
  explicit reader(ref<protocol<void(shout)>> to)
      : stream_(patterns::spawn(*this, pipeline(trimmed, louder, patterns::to(std::move(to))))) {}

  void on(line l) { send(stream_, std::move(l)); }  // a stream takes messages like an actor
  auto on(end_of_stream) {
    send(stream_, end_of_stream{});
    return delegate(stream_, join{});  // answered after the last line has left the stream
  }

 private:
  stream_ref<line> stream_;
};
// [/actors]

int main() {
  actor_system system;
  const auto read = system.spawn<reader>(system.spawn<printer>());
  for (const char* text : {"ready  ", "steady ", "go"}) send(read, line{text});
  system.request(read, end_of_stream{}).get().value();
}
