// Everything that GCC 12 destroys twice, each in a line that says so.
#include "mini.hpp"

#include <array>
#include <memory>
#include <optional>

task forms(std::string t, bool flag) {
  co_await request(order{t, 7});                              // twice
  co_await request(order(t, 7));                              // twice
  co_await request(order{});                                  // twice
  co_await request<order>(order{t, 7});                       // twice
  co_await request(parcel(order{t, 7}));                      // twice
  co_await request(std::optional<order>(order{t, 7}));        // twice
  co_await request(std::array<std::string, 2>{t, t});         // twice
  co_await helper({t, 7});                                    // twice
  co_await adapt([t] { static_cast<void>(t); });              // twice
  order braces{co_await ask(), 3};                            // twice
  order parentheses(co_await ask(), 3);                       // twice
  braces = {co_await ask(), 4};                               // twice
  std::string chosen = flag ? co_await ask() : t;             // twice
  co_await request(flag ? t : std::string());                 // twice
  std::unique_ptr<order> kept(new order{co_await ask(), 1});  // twice
}

template <class T>
task in_a_template(T t) {
  co_await request(order{t, 7});  // twice
}
template task in_a_template(std::string);
