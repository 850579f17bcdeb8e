#include "plan.hpp"

#include "words/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <unordered_set>

namespace word_count {

namespace {

namespace fs = std::filesystem;

struct closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

constexpr std::size_t head_bytes = 4096;
constexpr std::size_t step_bytes = 4096;
constexpr std::size_t block_bytes = 64 * 1024;

/// The facts about a file by which a change is recognised.
struct stamp {
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;
};

stamp stamp_of(const fs::path& path, std::error_code& trouble) {
  stamp result;
  result.bytes = fs::file_size(path, trouble);
  if (!trouble)
    result.modified =
        static_cast<std::int64_t>(fs::last_write_time(path, trouble).time_since_epoch().count());
  return result;
}

std::size_t find_space(std::string_view text, std::size_t from) noexcept {
  while (from < text.size() && !is_space(text[from])) ++from;
  return from;
}

class planner {
 public:
  explicit planner(std::uint32_t unit_bytes) : unit_bytes_(unit_bytes) {}

  void visit(const fs::path& path) {
    std::error_code trouble;
    const fs::file_status what = fs::status(path, trouble);
    if (what.type() == fs::file_type::none) return refuse(path, trouble.message());
    if (!fs::exists(what))
      return refuse(path, std::make_error_code(std::errc::no_such_file_or_directory).message());
    if (!fs::is_directory(what)) return visit_file(path, what);
    files_met_ = 0;
    const std::size_t refused = result_.problems.size();
    visit_folder(path);
    if (files_met_ == 0 && result_.problems.size() == refused)
      refuse(path, "no file is in this folder");
  }

  [[nodiscard]] plan take() {
    mix(std::to_string(unit_bytes_));
    result_.fingerprint = hash_;
    return std::move(result_);
  }

 private:
  void visit_folder(const fs::path& folder) {
    std::error_code trouble;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, trouble), end; !trouble && at != end;
         at.increment(trouble))
      entries.push_back(*at);
    if (trouble) return refuse(folder, trouble.message());
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
      const fs::file_status what = entry.symlink_status(trouble);
      if (fs::is_symlink(what)) continue;
      if (fs::is_directory(what))
        visit_folder(entry.path());
      else
        visit_file(entry.path(), what);
    }
  }

  void visit_file(const fs::path& path, const fs::file_status& what) {
    ++files_met_;
    if (!fs::is_regular_file(what)) return refuse(path, "not a regular file");
    std::error_code trouble;
    const std::string same = fs::weakly_canonical(path, trouble).string();
    if (!seen_.insert(trouble ? path.string() : same).second) return;
    // before the first byte is read, so that later changes are noticed
    const stamp now = stamp_of(path, trouble);
    if (trouble) return refuse(path, trouble.message());
    const file_handle file(std::fopen(path.c_str(), "rb"));
    if (!file) return refuse(path, std::strerror(errno));
    char head[head_bytes];
    const std::size_t got = std::fread(head, 1, sizeof head, file.get());
    if (std::ferror(file.get()) != 0) return refuse(path, "cannot be read");
    if (!looks_like_text({head, got})) return refuse(path, "binary");
    source found{path.string(), now.bytes, now.modified, form_of(path.string(), {head, got})};
    if (found.how == form::markup)
      cut_markup(file.get());
    else
      cut_plain(found.bytes);
    mix(found.path);
    mix(std::to_string(found.bytes));
    mix(std::to_string(found.modified));
    result_.bytes += found.bytes;
    result_.files.push_back(std::move(found));
  }

  void add_unit(std::uint64_t offset, std::uint64_t length) {
    result_.units.push_back({static_cast<std::uint32_t>(result_.files.size()), offset, length});
  }

  void cut_plain(std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += unit_bytes_)
      add_unit(at, std::min<std::uint64_t>(unit_bytes_, bytes - at));
  }

  /// Reads the file from its beginning, which is the only way to know where a tag or a script is
  /// open.
  void cut_markup(std::FILE* file) {
    std::rewind(file);
    markup_reader reader;
    std::uint64_t begin = 0;
    std::uint64_t at = 0;
    std::string block(block_bytes, '\0');
    std::string text;
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), file)) {
      text.clear();
      for (const char c : std::string_view(block).substr(0, got)) {
        reader.read(c, text);
        if (++at - begin < unit_bytes_ || !reader.between_words()) continue;
        add_unit(begin, at - begin);
        begin = at;
      }
    }
    if (at != begin) add_unit(begin, at - begin);
  }

  void refuse(const fs::path& path, std::string why) {
    result_.problems.push_back({path.string(), std::move(why)});
  }

  void mix(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    hash_ = (hash_ ^ 0xff) * 0x100000001b3ull;
  }

  std::uint32_t unit_bytes_;
  std::size_t files_met_ = 0;  // files found below the present path
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
  std::unordered_set<std::string> seen_;
  plan result_;
};

}  // namespace

plan make_plan(const std::vector<std::string>& paths, std::uint32_t unit_bytes) {
  planner p(unit_bytes);
  for (const std::string& path : paths) p.visit(path);
  return p.take();
}

namespace {

piece failed(std::string why) { return {{}, form::plain, std::move(why)}; }

piece read_markup(std::FILE* file, std::uint64_t offset, std::uint64_t length) {
  if (std::fseek(file, static_cast<long>(offset), SEEK_SET) != 0)
    return failed(std::strerror(errno));
  std::string text(length, '\0');
  text.resize(std::fread(text.data(), 1, length, file));
  if (std::ferror(file) != 0) return failed("cannot be read");
  return {std::move(text), form::markup, {}};
}

}  // namespace

piece read_piece(const std::string& path, form how, std::uint64_t offset, std::uint64_t length) {
  const file_handle file(std::fopen(path.c_str(), "rb"));
  if (!file) return failed(std::strerror(errno));
  if (how == form::markup) return read_markup(file.get(), offset, length);
  // The byte before the offset shows whether a token begins exactly there.
  const std::uint64_t from = offset == 0 ? 0 : offset - 1;
  const std::size_t wanted = static_cast<std::size_t>(offset - from + length);
  if (std::fseek(file.get(), static_cast<long>(from), SEEK_SET) != 0)
    return failed(std::strerror(errno));
  std::string text(wanted, '\0');
  text.resize(std::fread(text.data(), 1, wanted, file.get()));
  std::size_t begin = 0;
  if (offset != 0) {
    begin = find_space(text, 0);
    if (begin == text.size()) return {};  // no token begins here
  }
  if (text.size() == wanted) {
    // The last token may extend beyond the end: read on until white space. The next unit leaves
    // this token out.
    std::size_t end = find_space(text, wanted - 1);
    while (end == text.size()) {
      text.resize(end + step_bytes);
      text.resize(end + std::fread(text.data() + end, 1, step_bytes, file.get()));
      if (text.size() == end) break;
      end = find_space(text, end);
    }
    text.resize(end);
  }
  if (std::ferror(file.get()) != 0) return failed("cannot be read");
  text.erase(0, begin);
  return {std::move(text), form::plain, {}};
}

std::vector<problem> changes(const plan& known) {
  std::vector<problem> result;
  for (const source& file : known.files) {
    std::error_code trouble;
    const stamp now = stamp_of(file.path, trouble);
    if (trouble)
      result.push_back({file.path, trouble.message()});
    else if (now.bytes != file.bytes || now.modified != file.modified)
      result.push_back({file.path, "was written to"});
    else if (!file_handle(std::fopen(file.path.c_str(), "rb")))
      result.push_back({file.path, std::strerror(errno)});
  }
  return result;
}

}  // namespace word_count
