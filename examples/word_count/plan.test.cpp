// The plan: the files that are read, the reasons why others are not, and units that contain each
// word once.
#include "plan.hpp"

#include "scratch_folder.hpp"
#include "walker.hpp"

#include <doctest/doctest.h>
#include <unistd.h>
#include <garrick/testkit/test_system.hpp>

#include <filesystem>

namespace plan_test {

using namespace word_count;
namespace fs = std::filesystem;

namespace {

counts by_units(const std::string& path, std::uint32_t unit_bytes) {
  counts all;
  const plan p = make_plan({path}, unit_bytes);
  for (const unit& u : p.units) {
    const piece text = read_piece(p.files[u.file].path, p.files[u.file].how, u.offset, u.length);
    CHECK(text.trouble.empty());
    for (const auto& [word, count] : count_words(readable(text.text, text.how))) all[word] += count;
  }
  return all;
}

}  // namespace

TEST_CASE(
    "a folder is walked in the order of names, and a file that is no text is refused with a "
    "reason") {
  const scratch_folder f;
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
  if (geteuid() == 0) return;  // root may read every file
  const scratch_folder f;
  const std::string path = f.write("secret.txt", "secret");
  fs::permissions(path, fs::perms::none);
  const plan p = make_plan({f.path()}, 4);
  CHECK(p.files.empty());
  REQUIRE(p.problems.size() == 1);
  CHECK(p.problems[0].why == "Permission denied");
}

TEST_CASE("a folder without a file is named, and a folder of files that were met before is not") {
  const scratch_folder f;
  fs::create_directories(f.path() + "/empty/below");
  f.write("full/a.txt", "text");
  const plan p = make_plan({f.path() + "/empty", f.path() + "/full", f.path() + "/full"}, 4);
  CHECK(p.files.size() == 1);
  REQUIRE(p.problems.size() == 1);
  CHECK(p.problems[0].path == f.path() + "/empty");
  CHECK(p.problems[0].why == "no file is in this folder");
  CHECK(make_plan({f.path()}, 4).problems.empty());
}

TEST_CASE("a file that two paths lead to is planned once, and a link below a path not at all") {
  const scratch_folder f;
  const std::string path = f.write("a.txt", "text");
  fs::create_symlink(path, f.path() + "/link.txt");
  CHECK(make_plan({f.path(), path}, 4).files.size() == 1);
}

TEST_CASE("the same disk gives the same plan, another one does not") {
  const scratch_folder f;
  f.write("a.txt", "text");
  const plan first = make_plan({f.path()}, 4);
  CHECK(first.fingerprint == make_plan({f.path()}, 4).fingerprint);
  CHECK(first.fingerprint != make_plan({f.path()}, 2).fingerprint);
  f.write("b.txt", "more");
  CHECK(first.fingerprint != make_plan({f.path()}, 4).fingerprint);
}

TEST_CASE("units of any size hold each word exactly once") {
  const scratch_folder f;
  const std::string text =
      "one two  three\nfour " + std::string(9000, 'x') + " Straße five\n\n six";
  const std::string path = f.write("a.txt", text);
  const counts expected = count_words(text);
  for (const std::uint32_t bytes : {1u, 2u, 3u, 5u, 7u, 64u, 4096u, 8192u, 1u << 20}) {
    CAPTURE(bytes);
    CHECK(by_units(path, bytes) == expected);
  }
}

TEST_CASE("units of markup of any size hold each word exactly once") {
  const scratch_folder f;
  const std::string text = "<html><p a='b c'>one two</p> <script>no " + std::string(9000, 'x') +
                           " no</script>thr<b>ee</b> Stra&szlig;e <!-- no no --> "
                           "four\n<![CDATA[five <six>]]> &amp; seven";
  const std::string path = f.write("a.html", text);
  const counts expected = count_words(readable(text, form::markup));
  CHECK(expected.size() == 8);
  for (const std::uint32_t bytes : {1u, 2u, 3u, 5u, 7u, 64u, 4096u, 1u << 20}) {
    CAPTURE(bytes);
    CHECK(by_units(path, bytes) == expected);
  }
  const plan p = make_plan({path}, 8);
  REQUIRE(p.files.size() == 1);
  CHECK(p.files[0].how == form::markup);
  CHECK(p.units.size() > 3);
  std::uint64_t end = 0;
  for (const unit& u : p.units) {
    CHECK(u.offset == end);
    end = u.offset + u.length;
  }
  CHECK(end == text.size());
}

TEST_CASE("a file that is written to or goes away after it was found is named") {
  const scratch_folder f;
  f.write("same.txt", "same");
  const std::string grown = f.write("grown.txt", "one");
  const std::string touched = f.write("touched.txt", "one");
  const std::string gone = f.write("gone.txt", "one");
  const auto known = std::make_shared<const plan>(make_plan({f.path()}, 4));
  CHECK(changes(*known).empty());
  f.write("grown.txt", "one two");
  fs::last_write_time(touched, fs::last_write_time(touched) + std::chrono::seconds(1));
  fs::remove(gone);

  chaos fate(1, 0);
  garrick::testkit::test_system system;
  const auto walker =
      system.spawn<walker_actor>(std::vector<std::string>{f.path()}, 4u, garrick::lent(&fate));
  auto answer = system.request(walker, look_again{known});
  system.run();
  const std::vector<problem> changed = answer.get().value();
  REQUIRE(changed.size() == 3);
  CHECK(changed[0].path == gone);
  CHECK(changed[0].why == "No such file or directory");
  CHECK(changed[1].path == grown);
  CHECK(changed[1].why == "was written to");
  CHECK(changed[2].path == touched);
  CHECK(make_plan({f.path()}, 4).fingerprint != known->fingerprint);
}

TEST_CASE("a plan tells a file that was written to from its earlier state") {
  const scratch_folder f;
  const std::string path = f.write("a.txt", "text");
  const plan before = make_plan({path}, 4);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  CHECK(make_plan({path}, 4).fingerprint != before.fingerprint);
}

TEST_CASE("a piece of a file that has gone is an error, not an end") {
  const piece p = read_piece("/no/such/file", form::plain, 0, 10);
  CHECK(p.text.empty());
  CHECK(p.trouble == "No such file or directory");
}

TEST_CASE("an empty file has no units and is no problem") {
  const scratch_folder f;
  f.write("empty.txt", "");
  const plan p = make_plan({f.path()}, 8);
  CHECK(p.files.size() == 1);
  CHECK(p.units.empty());
  CHECK(p.problems.empty());
}

}  // namespace plan_test
