// each: settings order
// max-lines: gcc 16: it names each constructor of the layer
// expect: slicing_settings|to ‘garrick::net::slicing’|to 'garrick::net::slicing'
// expect: no known conversion
// A layer takes its own settings, and a stack its layers from the top down.
#include <garrick/net/stack/stacks.hpp>

using namespace garrick::net;
using composed = stack<datagrams, slicing, ordering>;

#if defined(GARRICK_WITHOUT_settings)
auto made(link_owner& owner, carrier& below) {
  return std::make_unique<composed>(owner, below, slicing(), ordering(slicing_settings()));
}
#elif defined(GARRICK_WITHOUT_order)
void made(link_owner& owner, carrier& below) { composed c(owner, below, ordering(), slicing()); }
#else
auto made(link_owner& owner, carrier& below) {
  return std::make_unique<composed>(owner, below, slicing(), ordering(ordering_settings()));
}
#endif
