#include "garrick/gpu/detail/kernel_check.hpp"

#include <garrick/gpu/arguments.hpp>

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace kernel_check_test {

namespace {

using namespace garrick::gpu;
using namespace garrick::gpu::detail;
using kind = expected_parameter::kind;

built_kernel kernel_of(std::vector<parameter> parameters) {
  built_kernel k;
  k.parameters = std::move(parameters);
  k.types_known = true;
  return k;
}
std::string check(const parameter& there, const expected_parameter& wanted) {
  const built_kernel k = kernel_of({there});
  return mismatch(k, std::span(&wanted, 1));
}

TEST_CASE("names of types are those of the source") {
  CHECK(kernel_type_name<float> == "float");
  CHECK(kernel_type_name<unsigned char> == "uchar");
  CHECK(kernel_type_name<long long> == "long");
  CHECK(kernel_type_name<unsigned> == "uint");
  CHECK(kernel_type_name<std::array<float, 4>> == "float4");
  CHECK(kernel_type_name<std::array<int, 16>> == "int16");
  CHECK(kernel_type_name<std::array<float, 5>>.empty());
  struct own {};
  CHECK(kernel_type_name<own>.empty());
}

TEST_CASE("memory fits global and constant memory, and written memory no constant one") {
  const expected_parameter in{.what = kind::memory, .type = "float"};
  const expected_parameter out{.what = kind::memory, .type = "float", .is_written = true};
  CHECK(check({address_space::global, "float", true}, in).empty());
  CHECK(check({address_space::constant, "float", true}, in).empty());
  CHECK(check({address_space::global, "float", false}, out).empty());
  CHECK_FALSE(check({address_space::global, "float", true}, out).empty());
  CHECK_FALSE(check({address_space::constant, "float", false}, out).empty());
  CHECK_FALSE(check({address_space::local, "float", false}, in).empty());
  CHECK_FALSE(check({address_space::value, "float", false}, in).empty());
}

TEST_CASE("the memory of a device_ref is not given to a kernel that may write it") {
  const expected_parameter shared{.what = kind::memory, .type = "float", .is_shared = true};
  CHECK(check({address_space::global, "float", true}, shared).empty());
  CHECK(check({address_space::constant, "float", false}, shared).empty());
  CHECK(check({address_space::global, "float", false}, shared).find("in_out") != std::string::npos);
}

TEST_CASE("a value without a name of OpenCL has the bytes of the parameter") {
  const auto value = [](std::size_t bytes) {
    return expected_parameter{.what = kind::value, .bytes = bytes};
  };
  CHECK(check({address_space::value, "float4", false}, value(16)).empty());
  CHECK(check({address_space::value, "float3", false}, value(16)).empty());
  CHECK(check({address_space::value, "ushort", false}, value(2)).empty());
  CHECK(check({address_space::value, "int", false}, value(8)).find("of 8 bytes") !=
        std::string::npos);
  CHECK_FALSE(check({address_space::value, "double16", false}, value(8)).empty());
  CHECK(check({address_space::value, "float5", false}, value(3)).empty());  // a user's own type
}

TEST_CASE("types are compared where both sides mean the same by a name") {
  const auto value = [](std::string_view type) {
    return expected_parameter{.what = kind::value, .type = type};
  };
  CHECK(check({address_space::value, "unsigned int", false}, value("uint")).empty());
  CHECK_FALSE(check({address_space::value, "int", false}, value("uint")).empty());
  CHECK_FALSE(check({address_space::value, "float4", false}, value("float")).empty());
  CHECK(check({address_space::value, "real", false}, value("double")).empty());  // a typedef
  CHECK(check({address_space::value, "particle", false}, value("")).empty());
}

TEST_CASE("without the driver's word on types only the number counts") {
  built_kernel k =
      kernel_of({{address_space::value, "", false}, {address_space::value, "", false}});
  k.types_known = false;
  const std::array wanted{expected_parameter{.what = kind::memory, .type = "float"},
                          expected_parameter{.what = kind::local}};
  CHECK(mismatch(k, wanted).empty());
  CHECK(mismatch(k, std::span(wanted).first(1)).find("takes 2 arguments, the signature has 1") !=
        std::string::npos);
}

}  // namespace

}  // namespace kernel_check_test
