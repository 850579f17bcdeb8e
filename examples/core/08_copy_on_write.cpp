// One message for many receivers: they share one block, and only a receiver that changes it gets a
// copy.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <string>
#include <vector>

// A payload that reports its copies.
struct page {
  page() = default;
  explicit page(std::string t) : text(std::move(t)) {}
  page(const page& other) : text(other.text) { ++copies; }
  page(page&&) noexcept = default;
  page& operator=(const page&) = delete;
  page& operator=(page&&) = delete;
  ~page() = default;

  std::string text;
  inline static int copies = 0;  // one worker runs all actors here, so a plain int is enough
};
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<page> = true;

// [readers]
garrick::behavior reader(garrick::dynamic_actor&) {
  return {[](const page& p) { return p.text.size(); }};  // only reads
}
garrick::behavior editor(garrick::dynamic_actor&) {
  return {[](page& p) {  // changes its copy; no other actor sees that
    p.text += "!";
    return p.text.size();
  }};
}
// [/readers]

int main() {
  garrick::settings one_worker;
  one_worker.scheduler.workers = 1;
  garrick::actor_system system(one_worker);

  // [share]
  std::vector<garrick::any_ref> readers;
  for (int i = 0; i < 100; ++i) readers.push_back(system.spawn(reader));
  const garrick::any_ref ed = system.spawn(editor);

  const garrick::message m = garrick::make_message(page("a long text"));
  for (const auto& r : readers) send(r, m);
  // [/share]
  std::size_t sum = 0;
  for (const auto& r : readers) sum += system.request_as<std::size_t>(r, m).get().value();
  std::printf("100 readers saw %zu bytes, copies made: %d\n", sum, page::copies);

  const std::size_t longer = system.request_as<std::size_t>(ed, m).get().value();
  std::printf("the editor made %zu of it, copies made: %d\n", longer, page::copies);
  std::printf("the original still has %zu\n", m.get<page>()->text.size());
}
