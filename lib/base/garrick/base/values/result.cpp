// The path of `result` that throws, kept out of every caller.
#include "garrick/base/values/result.hpp"

namespace garrick::base {

bad_result_access::bad_result_access(error_value why)
    : error_(std::move(why)), text_("no value in the result: " + error_.to_string()) {}

namespace detail {

void throw_bad_result_access(const error& e) { throw bad_result_access(e); }

}  // namespace detail
}  // namespace garrick::base
