#include "garrick/gpu/internal/sha256.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

namespace sha256_test {

namespace {

using garrick::gpu::internal::sha256;
using garrick::gpu::internal::to_hex;

std::string sum(std::string_view text) {
  sha256 h;
  h.add(text);
  return to_hex(h.finish());
}

TEST_CASE("sums are those of the standard") {
  CHECK(sum("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sum("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sum(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("in which pieces it comes does not matter") {
  const std::string text(300, 'x');
  for (const std::size_t at : std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 128, 299}) {
    sha256 h;
    h.add(std::string_view(text).substr(0, at));
    h.add(std::string_view(text).substr(at));
    CHECK(to_hex(h.finish()) == sum(text));
  }
}

}  // namespace

}  // namespace sha256_test
