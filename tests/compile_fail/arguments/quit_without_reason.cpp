// each: text string number flag
// expect: garrick: quit(reason) takes an exit_code, an error or both with a text
#include <garrick/garrick.hpp>

#include <string>

using namespace garrick;

/// A class may have a quit of its own beside: one that takes a text by conversion, too.
class quits_with_text : public actor<protocol<void(int)>> {
 public:
  using actor_base::quit;
  void quit(const std::string& text) { quit({exit_code::failure, text}); }
  void on(int x) { x == 0 ? quit("no disk") : quit(exit_code::user_shutdown); }
};

class worker : public actor<protocol<void(int)>> {
 public:
  void on(int x) {
#if defined(GARRICK_WITHOUT_text)
    quit("no disk");
#elif defined(GARRICK_WITHOUT_string)
    quit(std::string("no disk"));
#elif defined(GARRICK_WITHOUT_number)
    quit(x);
#elif defined(GARRICK_WITHOUT_flag)
    quit(true);
#else
    if (x == 0) quit();
    if (x == 1) quit(exit_code::user_shutdown);
    if (x == 2) quit({exit_code::failure, "no disk"});
    if (x == 3) quit(errc::overload);
    if (x == 4) quit(make_error(errc::overload, "disk"));
    const exit_reason why = exit_code::failure;
    quit(why);
#endif
  }
};
