#include "plan.hpp"

#include "job.hpp"
#include "text.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace word_count;
namespace fs = std::filesystem;

namespace {

class folder {
 public:
  folder() {
    std::string pattern = (fs::temp_directory_path() / "word_count_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~folder() { fs::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

counts by_units(const std::string& path, std::uint32_t unit_bytes) {
  counts all;
  const plan p = make_plan({path}, unit_bytes);
  for (const unit& u : p.units) {
    const piece text = read_piece(p.files[u.file].path, u.offset, u.length);
    CHECK(text.trouble.empty());
    for (const auto& [word, count] : count_words(text.text)) all[word] += count;
  }
  return all;
}

}  // namespace

TEST_CASE("a folder is walked in the order of its names, and what is no text is refused with a reason") {
  const folder f;
  f.write("b.txt", "two words");
  f.write("a/deep.txt", "deep");
  f.write("c.bin", std::string("\0\1\2", 3));
  const plan p = make_plan({f.path(), f.path() + "/absent"}, 4);
  REQUIRE(p.files.size() == 2);
  CHECK(p.files[0].path.ends_with("a/deep.txt"));
  CHECK(p.files[1].path.ends_with("b.txt"));
  CHECK(p.bytes == 13);
  CHECK(p.units.size() == 1 + 3);
  REQUIRE(p.problems.size() == 2);
  CHECK(p.problems[0].why == "binary");
  CHECK(p.problems[1].why == "No such file or directory");
}

TEST_CASE("an unreadable file is refused with a reason") {
  if (geteuid() == 0) return;  // may read everything
  const folder f;
  const std::string path = f.write("secret.txt", "secret");
  fs::permissions(path, fs::perms::none);
  const plan p = make_plan({f.path()}, 4);
  CHECK(p.files.empty());
  REQUIRE(p.problems.size() == 1);
  CHECK(p.problems[0].why == "Permission denied");
}

TEST_CASE("a file that two paths lead to is planned once, and a link below a path not at all") {
  const folder f;
  const std::string path = f.write("a.txt", "text");
  fs::create_symlink(path, f.path() + "/link.txt");
  CHECK(make_plan({f.path(), path}, 4).files.size() == 1);
}

TEST_CASE("the same disk gives the same plan, another one does not") {
  const folder f;
  f.write("a.txt", "text");
  const plan first = make_plan({f.path()}, 4);
  CHECK(first.fingerprint == make_plan({f.path()}, 4).fingerprint);
  CHECK(first.fingerprint != make_plan({f.path()}, 2).fingerprint);
  f.write("b.txt", "more");
  CHECK(first.fingerprint != make_plan({f.path()}, 4).fingerprint);
}

TEST_CASE("units of any size hold each word exactly once") {
  const folder f;
  const std::string text = "one two  three\nfour " + std::string(9000, 'x') + " Straße five\n\n six";
  const std::string path = f.write("a.txt", text);
  const counts expected = count_words(text);
  for (const std::uint32_t bytes : {1u, 2u, 3u, 5u, 7u, 64u, 4096u, 8192u, 1u << 20}) {
    CAPTURE(bytes);
    CHECK(by_units(path, bytes) == expected);
  }
}

TEST_CASE("a piece of a file that has gone is an error, not an end") {
  const piece p = read_piece("/no/such/file", 0, 10);
  CHECK(p.text.empty());
  CHECK(p.trouble == "No such file or directory");
}

TEST_CASE("an empty file has no units and is no problem") {
  const folder f;
  f.write("empty.txt", "");
  const plan p = make_plan({f.path()}, 8);
  CHECK(p.files.size() == 1);
  CHECK(p.units.empty());
  CHECK(p.problems.empty());
}
