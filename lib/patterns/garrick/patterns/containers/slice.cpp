#include <garrick/patterns/containers/slice.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace garrick::patterns {

namespace {

class text_of_string final : public detail::text_block {
 public:
  explicit text_of_string(std::string text) : whole_(std::move(text)) { is(whole_); }

 private:
  std::string whole_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot read \"" + path + "\": " + why);
}

/// An open file, which the destructor closes.
class open_file {
 public:
  /// Opens the file without waiting for the other end of a pipe.
  explicit open_file(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) refuse(path, std::generic_category().message(errno));
  }
  ~open_file() { ::close(fd_); }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  const int fd_;
};

class text_of_file final : public detail::text_block {
 public:
  explicit text_of_file(const std::string& path) {
    const open_file file(path);
    struct stat about{};
    if (::fstat(file.fd(), &about) != 0) refuse(path, std::generic_category().message(errno));
    if (!S_ISREG(about.st_mode))
      refuse(path, S_ISDIR(about.st_mode) ? "it is a directory" : "it is no regular file");
    size_ = static_cast<std::size_t>(about.st_size);
    if (size_ == 0) return;
    at_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd(), 0);
    if (at_ == MAP_FAILED) refuse(path, std::generic_category().message(errno));
    static_cast<void>(::madvise(at_, size_, MADV_SEQUENTIAL));  // a hint
    is({static_cast<const char*>(at_), size_});
  }
  ~text_of_file() override {
    if (size_ != 0) ::munmap(at_, size_);
  }

 private:
  void* at_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

detail::text_block* detail::block_of(std::string text) {
  return new text_of_string(std::move(text));
}

slice slice_of_file(const std::string& path) { return slice(new text_of_file(path)); }

}  // namespace garrick::patterns
