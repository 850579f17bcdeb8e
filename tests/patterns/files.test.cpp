// Lines of files, and the slices that they are.
#include <doctest/doctest.h>
#include <garrick/base/types/print.hpp>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace files_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// A folder that goes away with the test.
class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "garrick-lines-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

auto collect() {
  return fold(std::vector<slice>(), [](std::vector<slice> all, slice s) {
    all.push_back(std::move(s));
    return all;
  });
}
result<std::vector<slice>> lines(const std::string& path) {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(lines_of(path), collect()), {.capacity = 4});
  kit.run();
  return kit.request(h, join{}).get();
}
std::vector<std::string> texts(const std::vector<slice>& all) {
  std::vector<std::string> t;
  for (const slice& s : all) t.push_back(s.to_string());
  return t;
}

}  // namespace

TEST_CASE("a slice owns the text that it is a part of") {
  slice be;
  {
    const slice all(std::string("to be or not to be, that is a long text"));
    be = all.part(3, 2);
    CHECK(all.part(3).text().starts_with("be or"));
    CHECK_THROWS_AS(static_cast<void>(all.part(99)), std::out_of_range);
  }
  CHECK(be == "be");
  CHECK(be == slice("be"));
  CHECK(be < slice("bee"));
  CHECK(std::hash<slice>()(be) == std::hash<slice>()(slice("be")));
  CHECK(base::to_string(be).find("be") != std::string::npos);
  CHECK(slice().empty());
  slice moved = std::move(be);
  CHECK(moved.size() == 2);
  moved = slice(moved);
  CHECK(moved == "be");
}

TEST_CASE("slices of one text may be made and dropped by several threads") {
  slicer pieces(slice(std::string(1000, 'x') + "!"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    std::vector<slice> some;
    for (std::size_t i = 0; i < 1000; ++i)
      some.push_back(pieces.of(pieces.whole().text().substr(i)));
    threads.emplace_back([some = std::move(some)]() mutable {
      std::size_t n = 0;
      for (slice& s : some) n += slice(std::move(s)).size();
      CHECK(n == 1001 * 1002 / 2 - 1);  // 1001 + 1000 + … + 2
    });
  }
  { const slicer gone = std::move(pieces); }
  for (auto& t : threads) t.join();
}

TEST_CASE("the lines of a file, with any ends") {
  const folder f;
  using lines_t = std::vector<std::string>;
  CHECK(texts(lines(f.file("unix", "one\ntwo\n\nfour\n")).value()) ==
        lines_t{"one", "two", "", "four"});
  CHECK(texts(lines(f.file("dos", "one\r\ntwo\r\n\r\nfour\r\n")).value()) ==
        lines_t{"one", "two", "", "four"});
  CHECK(texts(lines(f.file("no end", "one\ntwo")).value()) == lines_t{"one", "two"});
  CHECK(texts(lines(f.file("one line", "\n")).value()) == lines_t{""});
  CHECK(texts(lines(f.file("a cr inside", "a\rb\n\r")).value()) == lines_t{"a\rb", ""});
  CHECK(lines(f.file("empty", "")).value().empty());
}

TEST_CASE("a file that cannot be read ends the stream with an error that names it") {
  const folder f;
  const auto missing = lines(f.path() + "/missing");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error() == errc::receiver_failed);
  const std::string text = missing.error().to_string();
  CHECK(text.find("lines_of: cannot read \"" + f.path() + "/missing\": ") != std::string::npos);
  CHECK(lines(f.path()).error().to_string().find("it is a directory") != std::string::npos);
  CHECK(lines("/dev/null").error().to_string().find("no regular file") != std::string::npos);
}

TEST_CASE("a pipe is no file, and no call waits for its other end") {
  const folder here;
  const std::string path = here.path() + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const auto got = lines(path);
  REQUIRE_FALSE(got);
  CHECK(got.error().to_string().find("no regular file") != std::string::npos);
}

TEST_CASE("words of a file are counted in a real system, and outlive the stream") {
  const folder f;
  std::string content;
  for (int i = 0; i < 20'000; ++i) content += "to be or not to be " + std::to_string(i % 10) + "\n";
  const std::string path = f.file("text", content);
  const auto words = [](slice line, emit<slice> out) {
    slicer pieces(line);
    std::string_view rest = line.text();
    while (!rest.empty()) {
      const std::size_t n = std::min(rest.find(' '), rest.size());
      out(pieces.of(rest.substr(0, n)));
      rest.remove_prefix(std::min(n + 1, rest.size()));
    }
  };
  using counts = std::unordered_map<slice, int>;
  actor_system system;
  auto h = spawn(system, pipeline(lines_of(path), farm(words).replicas(3),
                                  fold(counts(), [](counts c, slice word) {
                                    ++c[std::move(word)];
                                    return c;
                                  })));
  const counts c = system.request(h, join{}).get().value();
  std::filesystem::remove(path);
  CHECK(c.size() == 14);
  CHECK(c.at(slice("to")) == 40'000);
  CHECK(c.at(slice("or")) == 20'000);
  CHECK(c.at(slice("7")) == 2'000);
}

}  // namespace files_test
