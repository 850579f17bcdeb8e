// A node whose links are configured from outside: here by the environment; a file or the command
// line would do the same.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/system/settings/load.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace garrick;

namespace {

int run(std::vector<std::string> environment) {
  // [load]
  net::node_settings node_settings;
  std::string stack = node_settings.stream_stack;  // the default of net.stack
  base::setting_table rows;
  net::add_settings(rows, stack, node_settings.link);

  // a real program calls setting_layers::from_main(argc, argv)
  system::setting_layers layers;
  layers.environment = std::move(environment);
  layers.own = &rows;
  const auto loaded = system::load_settings(layers);
  if (!loaded) return std::puts(loaded.error().to_string().c_str()), 1;

  // A node has two stacks, and the setting names one: its name decides for which transport it is.
  const net::named_stack* const chosen = node_settings.stacks.find(stack);
  if (chosen == nullptr)
    return std::puts(node_settings.stacks.explain(stack).to_string().c_str()), 1;
  if (chosen->transport == net::carrier_kind::stream)
    node_settings.stream_stack = stack;
  else
    node_settings.datagram_stack = stack;

  actor_system system(loaded->system);
  net::node node(system, node_settings);
  // The table checks the range of each setting. `listen` and `connect` refuse settings that
  // contradict each other, and a stack that does not confirm messages, since nodes need
  // confirmations.
  const bool streams = chosen->transport == net::carrier_kind::stream;
  const auto at = node.listen(streams ? "tcp://127.0.0.1:0" : "udp://127.0.0.1:0");
  if (!at) return std::puts(at.error().to_string().c_str()), 1;
  // [/load]
  std::printf("over streams %s, over datagrams %s, down after %s\n",
              node_settings.stream_stack.c_str(), node_settings.datagram_stack.c_str(),
              node_settings.link.session.down_after.to_string().c_str());
  return 0;
}

}  // namespace

int main() {
  // as --net.failure_detection_down_after=3s on a command line
  const std::string down_after = "GARRICK_NET_FAILURE_DETECTION_DOWN_AFTER=3s";
  int failed = run({down_after, "GARRICK_NET_FAILURE_DETECTION_RESUME_WINDOW=2s"});
  failed += run({"GARRICK_NET_STACK=ordered_datagrams"});
  failed += run({"GARRICK_NET_STACK=datagrams"});
  failed += run({down_after});
  failed += run({"GARRICK_NET_STACK=tcp"});
  return failed == 3 ? 0 : 1;
}
