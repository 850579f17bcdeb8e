// A piece of text that shares the ownership of its memory with all other pieces of the same text.
//
//   slice all(std::string("to be or not"));
//   slice be = all.part(3, 2);              // no copy: it keeps the text alive
//
// Text in a stream travels as slices: a slice is three words, however long its text is. Copying or
// destroying a slice is an atomic operation on the count of its block; `slicer` makes many pieces
// of one block for one such operation.
//
// Thread safety: as a plain value. Slices of one block may be used by different threads; the text
// is never changed.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace garrick::patterns {

namespace detail {

/// Text that slices share.
class text_block {
 public:
  text_block(const text_block&) = delete;
  text_block& operator=(const text_block&) = delete;

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  void hold(std::size_t n = 1) noexcept {
    holders_.fetch_add(n, std::memory_order_relaxed);  // order: relaxed; the caller holds it
  }
  void drop(std::size_t n = 1) noexcept {
    // order: acq_rel: the destruction comes after all reads of the text
    if (holders_.fetch_sub(n, std::memory_order_acq_rel) == n) delete this;
  }

 protected:
  /// Makes a block that its maker holds once.
  text_block() = default;
  virtual ~text_block() = default;
  void is(std::string_view text) noexcept { text_ = text; }

 private:
  std::string_view text_;
  std::atomic<std::size_t> holders_{1};
};

/// Returns a block that holds this text. The caller drops it.
[[nodiscard]] text_block* block_of(std::string text);

}  // namespace detail

class slice;
/// Returns the whole of a file, mapped into memory. If the file is shortened while it is mapped, a
/// read behind its end ends the program (SIGBUS). Throws std::runtime_error, which names the file,
/// if the file cannot be read or is not a regular file.
[[nodiscard]] slice slice_of_file(const std::string& path);

/// A piece of a shared text. It may be sent, compared, hashed and printed.
class slice {
 public:
  using garrick_sendable = void;  ///< it owns its text, which never changes

  /// Makes an empty text.
  slice() noexcept = default;
  /// Makes a slice of the whole of `text`, which it takes over. Throws std::bad_alloc.
  explicit slice(std::string text) : slice(detail::block_of(std::move(text))) {}
  slice(const slice& o) noexcept : block_(o.block_), text_(o.text_) {
    if (block_ != nullptr) block_->hold();
  }
  slice(slice&& o) noexcept
      : block_(std::exchange(o.block_, nullptr)), text_(std::exchange(o.text_, {})) {}
  slice& operator=(slice o) noexcept {
    std::swap(block_, o.block_);
    std::swap(text_, o.text_);
    return *this;
  }
  ~slice() {
    if (block_ != nullptr) block_->drop();
  }

  /// Returns the text, which is valid as long as this or any other slice of its block exists.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] operator std::string_view() const noexcept { return text_; }  ///< Returns the text.
  /// Returns the number of bytes.
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  /// Returns true if there is no byte.
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  /// Returns at most `n` bytes from `first` on. Throws std::out_of_range if `first` is behind the
  /// end.
  [[nodiscard]] slice part(std::size_t first, std::size_t n = std::string_view::npos) const {
    slice s;
    s.text_ = text_.substr(first, n);
    s.block_ = block_;
    if (block_ != nullptr) block_->hold();
    return s;
  }
  /// Returns a copy of the text.
  [[nodiscard]] std::string to_string() const { return std::string(text_); }

  /// Returns true if the texts are equal; the blocks do not matter.
  [[nodiscard]] friend bool operator==(const slice& a, const slice& b) noexcept {
    return a.text_ == b.text_;
  }
  /// Returns the order of the texts, byte by byte.
  [[nodiscard]] friend std::strong_ordering operator<=>(const slice& a, const slice& b) noexcept {
    return a.text_ <=> b.text_;
  }
  /// Returns true if the text is equal to `b`.
  [[nodiscard]] friend bool operator==(const slice& a, std::string_view b) noexcept {
    return a.text_ == b;
  }

 private:
  friend class slicer;
  friend slice slice_of_file(const std::string& path);
  explicit slice(detail::text_block* adopted) noexcept : block_(adopted), text_(adopted->text()) {}

  detail::text_block* block_ = nullptr;
  std::string_view text_;
};

/// Makes many slices of one block, with one atomic operation for many of them.
///
///     slicer pieces(line);
///     for (std::string_view w : split(line.text())) out(pieces.of(w));
class slicer {
 public:
  /// Makes slices of the block that `whole` lies in.
  explicit slicer(slice whole) noexcept : whole_(std::move(whole)) {}
  slicer(slicer&& o) noexcept : whole_(std::move(o.whole_)), held_(std::exchange(o.held_, 0)) {}
  slicer& operator=(slicer&&) = delete;
  ~slicer() {
    if (held_ != 0) whole_.block_->drop(held_);
  }

  /// Returns a slice of `text`. Requires that it lies in the whole.
  [[nodiscard]] slice of(std::string_view text) noexcept {
    slice s;
    if (whole_.block_ == nullptr) return s;
    if (held_ == 0) whole_.block_->hold(held_ = at_once);
    --held_;
    s.block_ = whole_.block_;
    s.text_ = text;
    return s;
  }
  /// Returns the slice that is cut.
  [[nodiscard]] const slice& whole() const noexcept { return whole_; }

 private:
  static constexpr std::size_t at_once = 64;
  slice whole_;
  std::size_t held_ = 0;  ///< holds of the block that no slice has taken yet
};

}  // namespace garrick::patterns

/// Hashes the text as std::hash<std::string_view> does.
template <>
struct std::hash<garrick::patterns::slice> {
  std::size_t operator()(const garrick::patterns::slice& s) const noexcept {
    return std::hash<std::string_view>()(s.text());
  }
};
