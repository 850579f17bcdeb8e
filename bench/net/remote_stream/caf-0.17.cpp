// The same with CAF's middleman, which has no back-pressure for plain messages.
#include <caf/io/all.hpp>
#include <cstdint>

#include "common/caf_system.hpp"
#include "net/common/served.hpp"

namespace {

struct record {
  std::uint64_t number = 0;
  std::uint64_t a = ~0ull, b = ~0ull, c = ~0ull, d = ~0ull, e = ~0ull, f = ~0ull, g = ~0ull;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, record& r) {
  return f(caf::meta::type_name("record"), r.number, r.a, r.b, r.c, r.d, r.e, r.f, r.g);
}

struct config : bench::caf_config {
  explicit config(bench::arguments& args) : caf_config(args) {
    load<caf::io::middleman>();
    add_message_type<record>("record");
  }
};

struct sink_state {
  std::uint64_t sum = 0;
};
caf::behavior sink(caf::stateful_actor<sink_state>* self) {
  return {
      [=](const record& r) { self->state.sum += r.number; },
      [=](caf::get_atom) { return self->state.sum; },
  };
}

struct source_state {
  std::uint64_t sent = 0;
};
caf::behavior source(caf::stateful_actor<source_state>* self, const caf::actor& to,
                     std::uint64_t messages, std::uint64_t* sum) {
  return {[=](caf::ok_atom) {
    std::uint64_t& sent = self->state.sent;
    for (int i = 0; i != 1000 && sent != messages; ++i) {
      record r;
      r.number = ++sent;
      self->send(to, r);
    }
    if (sent != messages) return self->send(self, caf::ok_atom::value);
    self->request(to, caf::infinite, caf::get_atom::value).then([=](std::uint64_t found) {
      *sum = found;
      self->quit();
    });
  }};
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t messages = args.number("messages", 100'000);
  config settings(args);
  args.reject_unknown();
  const served server([&](auto tell) {
    static caf::actor_system system(settings);
    if (const auto port = system.middleman().publish(system.spawn(sink), 0, "127.0.0.1"))
      tell(*port);
  });
  std::uint64_t sum = 0;
  {
    caf::actor_system system(settings);
    const auto there = system.middleman().remote_actor("127.0.0.1", server.port());
    if (!there) return out.error(system.render(there.error()));
    const std::int64_t start = now_ns();
    caf::anon_send(system.spawn(source, *there, messages, &sum), caf::ok_atom::value);
    system.await_all_actors_done();
    out.seconds = seconds_since(start);
  }
  out.items = messages;
  out.expect("sum", messages * (messages + 1) / 2, sum);
}
