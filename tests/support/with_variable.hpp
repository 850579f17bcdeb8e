// A variable of the environment that a test sets for a while.
//
// Thread safety: none; no other thread may look at the environment meanwhile.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace garrick::tests {

/// Sets a variable of the environment for a while; null: takes it out.
class with_variable {
 public:
  with_variable(const char* name, const char* value) : name_(name) {
    if (const char* const present = std::getenv(name)) before_ = present;
    set(value);
  }
  ~with_variable() { set(before_ ? before_->c_str() : nullptr); }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;

 private:
  void set(const char* value) {
    if (value != nullptr)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }

  const char* const name_;
  std::optional<std::string> before_;
};

}  // namespace garrick::tests
