// A picture in a PNG file, written row by row and not compressed.
//
// Thread safety: one thread at a time.
#pragma once

#include <boost/crc.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

class png {
 public:
  /// Begins a picture with this many columns, at most 20 000, and rows, at least one, of red, green
  /// and blue. Throws std::runtime_error if the file cannot be made.
  png(const std::string& path, std::uint32_t width, std::uint32_t height)
      : file_(path, std::ios::binary), path_(path), rows_(height) {
    using namespace std::string_view_literals;
    if (!file_ || width > 20'000 || height == 0) throw std::runtime_error("cannot make " + path_);
    file_ << "\x89PNG\r\n\x1a\n"sv;
    chunk("IHDR", big_endian(width) + big_endian(height) + std::string("\x08\x02\x00\x00\x00"sv));
    chunk("IDAT", std::string("\x78\x01"sv));
  }

  /// Adds the next row: three bytes for each column. The last one ends the file. Throws
  /// std::runtime_error if the file cannot be written.
  void add_row(std::string_view colours) {
    const std::string row = '\0' + std::string(colours);
    for (const char c : row) {
      sum_ = (sum_ + static_cast<unsigned char>(c)) % 65'521;
      sums_ = (sums_ + sum_) % 65'521;
    }
    const auto size = static_cast<std::uint16_t>(row.size());
    const auto inverse = static_cast<std::uint16_t>(~size);
    std::string block(1, --rows_ == 0 ? '\1' : '\0');
    for (const std::uint16_t n : {size, inverse}) {
      block += static_cast<char>(n & 0xFF);
      block += static_cast<char>(n >> 8);
    }
    block += row;
    if (rows_ == 0) block += big_endian(sums_ << 16 | sum_);
    chunk("IDAT", block);
    if (rows_ == 0) chunk("IEND", "");
    if (!file_.flush()) throw std::runtime_error("cannot write " + path_);
  }

 private:
  static std::string big_endian(std::uint32_t n) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(n >> shift & 0xFF);
    return bytes;
  }
  void chunk(std::string_view kind, const std::string& data) {
    const std::string body = std::string(kind) + data;
    boost::crc_32_type check;
    check.process_bytes(body.data(), body.size());
    file_ << big_endian(static_cast<std::uint32_t>(data.size())) << body
          << big_endian(check.checksum());
  }

  std::ofstream file_;
  std::string path_;
  std::uint32_t rows_;      ///< rows that are not yet added
  std::uint32_t sum_ = 1;   ///< of the bytes, and
  std::uint32_t sums_ = 0;  ///< of these sums: how the format is checked
};
