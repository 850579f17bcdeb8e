// each: number parts
// expect: message_has_another_type<
// expect: types must match exactly
#include <garrick/garrick.hpp>

#include <string>

void test(const garrick::ref<garrick::protocol<void(long), void(std::string)>>& to,
          const garrick::ref<garrick::protocol<void(long, double)>>& pair) {
#ifdef GARRICK_WITHOUT_number
  send(to, 1);
#elif defined(GARRICK_WITHOUT_parts)
  send(pair, 1, 2);
#else
  send(to, 1L);
  send(to, std::string("text"));
  send(pair, 1L, 2.0);
#endif
}
