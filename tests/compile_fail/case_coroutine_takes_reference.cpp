// expect: coroutine_case_takes_references<
// expect: by value
// each: function pattern generic otherwise typed
// A case that is a coroutine takes parts of its message by value. Others may refer to it.
#include <garrick/garrick.hpp>

using garrick::task;

garrick::behavior test() {
  return {
#ifdef GARRICK_WITHOUT_function
      [](int, const std::string&) -> task<> { co_return; },
#else
      [](int, std::string) -> task<> { co_return; },
#endif
#ifdef GARRICK_WITHOUT_pattern
      garrick::on(42, garrick::any<std::string>) >> [](const std::string&) -> task<> { co_return; },
#else
      garrick::on(42, garrick::any<std::string>) >> [](std::string) -> task<> { co_return; },
#endif
#ifdef GARRICK_WITHOUT_generic
      garrick::on(43, garrick::any<std::string>) >> [](const auto&) -> task<> { co_return; },
#else
      garrick::on(43, garrick::any<std::string>) >> [](auto) -> task<> { co_return; },
#endif
#ifdef GARRICK_WITHOUT_otherwise
      garrick::otherwise >> [](const garrick::message&) -> task<> { co_return; },
#else
      garrick::otherwise >> [](garrick::message) -> task<> { co_return; },
#endif
      [](const std::string& text) { return text.size(); }};
}

garrick::typed_behavior<garrick::protocol<void(std::string)>> typed() {
#ifdef GARRICK_WITHOUT_typed
  return {[](std::string&&) -> task<> { co_return; }};
#else
  return {[](std::string) -> task<> { co_return; }};
#endif
}
