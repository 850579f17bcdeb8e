// Settings in layers: defaults, a file, the environment, the command line. A wrong one is an error
// that says what to do.
#include <garrick/garrick.hpp>
#include <garrick/system/settings/config.hpp>

#include <cstdio>
#include <string>

int main() {
  // [load]
  std::uint32_t clients = 10;
  garrick::system::config_options mine;
  mine.add("chat.clients", clients, "clients to start", 1, 1000);

  // a real program says config_sources::from_main(argc, argv)
  garrick::system::config_sources sources;
  sources.environment = {"GARRICK_SCHEDULER_WORKERS=1"};
  sources.arguments = {"--mailbox.soft_limit=2000", "--chat.clients=25"};
  sources.own = &mine;
  const auto config = garrick::system::load_config(sources);
  if (!config) {
    std::printf("%s\n", config.error().to_string().c_str());
    return 2;
  }
  garrick::actor_system system(config->system);
  // [/load]
  std::printf("workers %u, soft limit %u, clients %u\n", config->system.workers,
              config->system.limits.soft_limit, clients);

  // [wrong]
  sources.arguments = {"--mailbox.soft_limt=2000"};
  const auto wrong = garrick::system::load_config(sources);
  std::printf("%s\n", wrong.error().to_string().c_str());
  // [/wrong]
}
