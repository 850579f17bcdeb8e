// max-lines: clang 22: it shows each step with its line of source
// each: nobody_can_say_it width_varies arguments_vary two_messages_alike
// expect: why::{}
// expect: needs a name that other programs|the width of long double|give the type a garrick_wire_name|two messages of this protocol have one wire name
// A type that cannot have one name for all compilers and machines has none: a type that other
// programs cannot name, a number of varying width, a template with arguments that no rule knows,
// and a protocol with two messages that are one to others.
#include <garrick/core/protocol/wire_name.hpp>

namespace {
struct secret {};
}  // namespace
struct known {};

template <int N, class T>
struct odd {};

#if defined(GARRICK_WITHOUT_nobody_can_say_it)
using named = secret;
#elif defined(GARRICK_WITHOUT_width_varies)
using named = long double;
#elif defined(GARRICK_WITHOUT_arguments_vary)
using named = odd<1, int>;
#elif defined(GARRICK_WITHOUT_two_messages_alike)
using named = garrick::core::protocol<void(long), void(long long)>;
#else
using named = garrick::core::protocol<void(short), known(double, long long)>;
#endif

auto use() { return sizeof(secret) + garrick::base::wire_name<named>.size(); }
