// Settings in layers: defaults, a file, the environment, the command line. A wrong setting is an
// error with a remedy, and a list shows the source of each setting.
#include <garrick/garrick.hpp>
// [include]
#include <garrick/system/settings/load.hpp>
// [/include]

#include <cstdio>
#include <string>

int main() {
  // [load]
  std::uint32_t clients = 10;
  garrick::base::setting_table mine;
  mine.add({"chat.clients", &clients, {1, 1000}, "clients", "How many are started"});

  // a real program calls setting_layers::from_main(argc, argv)
  garrick::system::setting_layers layers;
  layers.environment = {"GARRICK_SCHEDULER_WORKERS=1"};
  layers.arguments = {"--mailbox.soft_limit=2000", "--chat.clients=25"};
  layers.own = &mine;
  auto loaded = garrick::system::load_settings(layers);
  if (!loaded) {
    std::printf("%s\n", loaded.error().to_string().c_str());
    return 2;
  }
  loaded->system.mailbox.full_wait = garrick::duration::milliseconds(2);
  garrick::actor_system system(loaded->system);
  // [/load]
  std::printf("workers %u, soft limit %u, clients %u\n", system.settings().scheduler.workers,
              system.settings().mailbox.soft_limit, clients);

  // [read-back]
  for (const auto& [key, value, source] : garrick::system::list_settings(system.settings()))
    if (source != "default")
      std::printf("%s is %s: %s\n", key.c_str(), value.c_str(), source.c_str());
  // [/read-back]

  // [wrong]
  layers.arguments = {"--mailbox.soft_limt=2000"};
  const auto wrong = garrick::system::load_settings(layers);
  std::printf("%s\n", wrong.error().to_string().c_str());
  // [/wrong]
}
