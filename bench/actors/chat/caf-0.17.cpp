// A chat application: directories, clients that compute, post, leave and invite, chats, and an
// accumulator for each turn.
#include "actors/chat/rules.hpp"
#include "common/caf_system.hpp"

namespace {

using act_atom = caf::atom_constant<caf::atom("act")>;
using befriend_atom = caf::atom_constant<caf::atom("befriend")>;
using bump_atom = caf::atom_constant<caf::atom("bump")>;
using confirm_atom = caf::atom_constant<caf::atom("confirm")>;
using forward_atom = caf::atom_constant<caf::atom("forward")>;
using invite_atom = caf::atom_constant<caf::atom("invite")>;
using join_atom = caf::atom_constant<caf::atom("join")>;
using leave_atom = caf::atom_constant<caf::atom("leave")>;
using left_atom = caf::atom_constant<caf::atom("left")>;
using poke_atom = caf::atom_constant<caf::atom("poke")>;
using post_atom = caf::atom_constant<caf::atom("post")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using bench::chat_event;

std::uint8_t code(chat_event e) { return static_cast<std::uint8_t>(e); }

caf::behavior accumulator(caf::stateful_actor<bench::chat_turn>* self, const caf::actor& poker,
                          std::uint64_t clients) {
  return {
      [=](bump_atom, std::uint8_t event, std::uint64_t more) {
        self->state.announced[event] += more;
      },
      [=, outstanding = clients, seen = std::uint64_t{0}](stop_atom, std::uint8_t event) mutable {
        bench::chat_turn& counts = self->state;
        ++counts.stopped[event];
        ++seen;
        const std::uint64_t announced =
            counts.announced[code(chat_event::delivery)] + counts.announced[code(chat_event::join)];
        if (seen != outstanding + announced) return;
        self->send(poker, confirm_atom::value, counts);
        self->quit();
      },
  };
}

struct chat_state {
  std::vector<caf::actor> members;
};

caf::behavior chat(caf::stateful_actor<chat_state>* self, const caf::actor& initiator) {
  self->state.members.push_back(initiator);
  return {
      [=](post_atom, const caf::actor& counter) {
        auto& members = self->state.members;
        self->send(counter, bump_atom::value, code(chat_event::delivery),
                   static_cast<std::uint64_t>(members.size()));
        for (const caf::actor& member : members) self->send(member, forward_atom::value, counter);
        self->send(counter, stop_atom::value, code(chat_event::post));
      },
      [=](join_atom, const caf::actor& member, const caf::actor& counter) {
        self->state.members.push_back(member);
        self->send(counter, stop_atom::value, code(chat_event::join));
      },
      [=](leave_atom, const caf::actor& member, const caf::actor& counter) {
        auto& members = self->state.members;
        const auto at = std::find(members.begin(), members.end(), member);
        if (at != members.end()) members.erase(at);
        self->send(member, left_atom::value, caf::actor_cast<caf::actor>(self), counter);
      },
  };
}

struct client_state {
  std::vector<caf::actor> friends;
  std::vector<caf::actor> chats;
  bench::chat_dice dice;
};
using client_actor = caf::stateful_actor<client_state>;

void open_chat(client_actor* self, const caf::actor& counter) {
  client_state& s = self->state;
  const caf::actor room = self->spawn(chat, caf::actor_cast<caf::actor>(self));
  s.chats.push_back(room);
  if (!s.friends.empty()) {
    const std::size_t first = s.dice.below(s.friends.size());
    const std::size_t guests = 1 + s.dice.below(s.friends.size());
    self->send(counter, bump_atom::value, code(chat_event::join),
               static_cast<std::uint64_t>(guests));
    for (std::size_t i = 0; i < guests; ++i) {
      self->send(s.friends[(first + i) % s.friends.size()], invite_atom::value, room, counter);
    }
  }
  self->send(counter, stop_atom::value, code(chat_event::invite));
}

void act(client_actor* self, chat_event event, std::uint32_t compute, const caf::actor& counter) {
  client_state& s = self->state;
  switch (event) {
    case chat_event::post:
    case chat_event::leave:
      if (s.chats.empty()) break;
      if (event == chat_event::post) {
        self->send(s.chats[s.dice.below(s.chats.size())], post_atom::value, counter);
      } else {
        self->send(s.chats[s.dice.below(s.chats.size())], leave_atom::value,
                   caf::actor_cast<caf::actor>(self), counter);
      }
      return;
    case chat_event::invite: open_chat(self, counter); return;
    default: bench::compute(compute);
  }
  self->send(counter, stop_atom::value, code(event));
}

caf::behavior client(client_actor* self, std::uint32_t id, std::uint32_t compute) {
  self->state.dice = bench::chat_dice(id);
  return {
      [=](befriend_atom, const caf::actor& other) { self->state.friends.push_back(other); },
      [=](act_atom, std::uint32_t turn, const caf::actor& counter) {
        act(self, bench::chat_action(id, turn), compute, counter);
      },
      [=](forward_atom, const caf::actor& counter) {
        self->send(counter, stop_atom::value, code(chat_event::delivery));
      },
      [=](invite_atom, const caf::actor& room, const caf::actor& counter) {
        self->state.chats.push_back(room);
        self->send(room, join_atom::value, caf::actor_cast<caf::actor>(self), counter);
      },
      [=](left_atom, const caf::actor& room, const caf::actor& counter) {
        auto& chats = self->state.chats;
        const auto at = std::find(chats.begin(), chats.end(), room);
        if (at != chats.end()) chats.erase(at);
        self->send(counter, stop_atom::value, code(chat_event::leave));
      },
  };
}

struct directory_state {
  std::vector<caf::actor> clients;
};

caf::behavior directory(caf::stateful_actor<directory_state>* self, bench::chat_rules rules,
                        std::uint32_t number) {
  auto& clients = self->state.clients;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = number; id < rules.clients; id += rules.directories) {
    ids.push_back(id);
    clients.push_back(self->spawn(client, id, rules.compute));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t j = 0; j < ids.size(); ++j) {
      if (bench::are_friends(rules, ids[i], ids[j]))
        self->send(clients[i], befriend_atom::value, clients[j]);
    }
  }
  self->set_exit_handler([=](const caf::exit_msg& msg) {
    for (const caf::actor& c : self->state.clients) self->send_exit(c, msg.reason);
    self->quit(msg.reason);
  });
  return {
      [=](poke_atom, std::uint32_t turn, const caf::actor& counter) {
        for (const caf::actor& c : self->state.clients)
          self->send(c, act_atom::value, turn, counter);
      },
  };
}

caf::behavior poker(caf::stateful_actor<directory_state>* self, bench::chat_rules rules,
                    std::vector<bench::chat_turn>* turns) {
  auto& directories = self->state.clients;
  for (std::uint32_t i = 0; i < rules.directories; ++i)
    directories.push_back(self->spawn(directory, rules, i));
  for (std::uint32_t turn = 0; turn < rules.turns; ++turn) {
    const caf::actor counter =
        self->spawn(accumulator, caf::actor_cast<caf::actor>(self), std::uint64_t{rules.clients});
    for (const caf::actor& d : directories) self->send(d, poke_atom::value, turn, counter);
  }
  return {
      [=](confirm_atom, const bench::chat_turn& counts) {
        turns->push_back(counts);
        if (turns->size() < rules.turns) return;
        for (const caf::actor& d : self->state.clients)
          self->send_exit(d, caf::exit_reason::user_shutdown);
        self->quit();
      },
  };
}

}  // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::chat_turn)

void bench::run(arguments& args, result& out) {
  const chat_rules rules = read_rules(args);
  const std::uint64_t runs = args.number("runs", 4);

  for (std::uint64_t run = 0; run < runs; ++run) {
    std::vector<chat_turn> turns;
    out.seconds += run_system(args, [&](caf::actor_system& system) {
      system.spawn(poker, rules, &turns);
      system.await_all_actors_done();
    });
    check_chat(out, rules, turns);
  }
}
