// Questions for an actor by a name: for a published actor, and for a new actor of an allowed type.
//
// An actor's constructor and its `on_start` may take long, so they do not run on the link's thread.
// A short-lived actor makes the new actor on a worker, and visits the link with the result. The
// question is answered once, even if the short-lived actor never runs.
#include <garrick/core/spawn.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/node/link/internal/link.hpp>
#include <garrick/net/printable.hpp>
#include <garrick/net/wire/orders.hpp>
#include <garrick/net/wire/schema.hpp>
#include <garrick/system/names/registry.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace garrick::net::internal {

namespace {

/// Returns the difference between the given arguments and the expected ones. Requires that the
/// given ones are checked.
base::error difference(const schema& given, const schema& expected) {
  const auto number_of = [](const schema& s) -> std::size_t {
    return s.signatures.empty() ? 0 : s.types[s.signatures[0].message].parts.size();
  };
  const auto some = [](std::size_t n) { return std::to_string(n) + (n == 1 ? " is" : " are"); };
  const std::size_t here = number_of(given);
  const std::size_t there = number_of(expected);
  if (here == there) return supports(given, expected);
  return base::make_error(net_errc::incompatible,
                          some(there) + " expected, and " + some(here) + " given");
}

/// Returns the bytes that the peer pays for the protocol in this frame; null if there is none.
std::size_t cost_of(const frame& f, const schema* protocol) noexcept {
  if (protocol == nullptr) return f.payload.size() * decoding_budget::per_byte;
  std::size_t entries = protocol->types.size() + protocol->signatures.size();
  for (const schema_type& t : protocol->types) entries += t.parts.size();
  for (const schema_signature& m : protocol->signatures) entries += m.answer.size();
  return f.payload.size() + entries * decoding_budget::of_a_description;
}

/// An actor that is to be made, and the number of the peer's question.
class spawn_job {
 public:
  spawn_job(core::environment& env, connection link, std::uint64_t number,
            std::shared_ptr<const spawnable> what, std::unique_ptr<prepared_spawn> prepared)
      : env_(env),
        link_(std::move(link)),
        number_(number),
        what_(std::move(what)),
        prepared_(std::move(prepared)) {}
  spawn_job(const spawn_job&) = delete;
  spawn_job& operator=(const spawn_job&) = delete;
  ~spawn_job() {
    if (prepared_ != nullptr)
      answer(base::make_error(base::errc::shutting_down, "a node", "its system is stopping"));
  }

  void run() {
    const std::unique_ptr<prepared_spawn> prepared = std::move(prepared_);
    try {
      answer(prepared->spawn(env_));
    } catch (const std::exception& e) {
      answer(base::make_error(base::errc::spawn_failed, "a node", e.what()));
    } catch (...) {
      answer(base::make_error(base::errc::spawn_failed, "a node", "something was thrown"));
    }
  }

 private:
  void answer(base::result<core::any_ref> who) noexcept {
    try {
      static_cast<void>(
          link_.insist([number = number_, what = what_, who = std::move(who)](hosted& h) mutable {
            static_cast<link_port&>(h).spawned(number, *what, std::move(who));
          }));
    } catch (const std::exception&) {
      // There is no memory for a visit in line. The question stays open until the link ends.
    }
  }

  core::environment& env_;
  const connection link_;
  const std::uint64_t number_;
  const std::shared_ptr<const spawnable> what_;
  std::unique_ptr<prepared_spawn> prepared_;
};

/// The content of a frame `spawn`.
struct order_to_write {
  const std::string& name;
  const spawn_arguments& with;
};

void write_order(byte_writer& out, const void* value) {
  const auto& order = *static_cast<const order_to_write*>(value);
  byte_writer arguments({.context = out.context()});
  order.with.write(arguments);
  const base::result<packet> p = std::move(arguments).finish();
  if (!p) return out.fail(p.error());
  const std::span<const std::byte> bytes = p->bytes();
  encode_value(out, spawn_order{order.name, {bytes.begin(), bytes.end()}, *order.with.types()});
}

}  // namespace

bool link::resolve(const std::string& name, const protocol_table& as,
                   std::unique_ptr<name_answer>& done) {
  if (is_closed_) return false;
  const auto fail = [&](const base::error& why) {
    std::exchange(done, nullptr)->failed(why);
    return true;
  };
  if (!as.described()) return fail(as.described().error());
  std::optional<packet> p = payload_of(resolve_order{name, *as.described()});
  if (!p) return fail(net_errc::not_encodable);
  const std::uint64_t number = ++next_number_;
  questions_.ask_name(number, done, as);
  post({.kind = frame_kind::resolve, .number = number}, std::move(*p));
  return true;
}

bool link::spawn(const std::string& name, const spawn_arguments& with, const protocol_table& as,
                 std::unique_ptr<name_answer>& done) {
  if (is_closed_) return false;
  const auto fail = [&](const base::error& why) {
    std::exchange(done, nullptr)->failed(why);
    return true;
  };
  if (!as.described()) return fail(as.described().error());
  if (!with.types()) return fail(with.types().error());
  const content_codec how{0, &base::message_type_of<spawn_order>, &write_order, nullptr};
  const order_to_write order{name, with};
  frame f{.kind = frame_kind::spawn, .number = ++next_number_};
  base::result<packet> p = handles_.encode(how, &order, f, front());
  if (!p) return fail(p.error().at(name));
  questions_.ask_name(f.number, done, as);
  post_written(to_outgoing(f, std::move(*p)));
  return true;
}

void link::on_resolve(const frame& f) {
  const base::result<resolve_order> order = decode<resolve_order>(f.payload);
  budget_.pay(cost_of(f, order ? &order->protocol : nullptr));
  if (!order) return refuse(f, order.error());
  if (const base::error no = check(order->protocol)) return refuse(f, no);
  node_->with_published(order->name, [&](core::cell* who, const protocol_table* as) {
    if (who == nullptr)
      return refuse(f, base::make_error(system::registry_errc::not_found,
                                        printable(order->name, longest_name)));
    if (const base::error no = supports(order->protocol, *as->described())) return refuse(f, no);
    std::optional<packet> p = payload_of(*as->described());
    if (!p) return refuse(f, base::error(net_errc::not_encodable));
    // The name stands for an actor of the peer, so nothing is exported. This answer and the actor's
    // release have the actor's number and no other, so they go in one lane, and the peer still
    // holds the actor when the answer arrives.
    if (const remote_cell* const theirs = proxies_.as_peers(*who))
      return post({.kind = frame_kind::resolved, .receiver = theirs->id(), .number = f.number},
                  std::move(*p));
    if (!exports_.has_room_for(*who, node_->settings().most_exports))
      return refuse(f, base::make_error(net_errc::overload, "a node", "too many exported actors"));
    const actor_id id = exports_.hold(*who, *as);
    post({.kind = frame_kind::resolved, .sender = id, .number = f.number}, std::move(*p));
  });
}

void link::on_resolved(const frame& f) {
  const questions::place at = questions_.find(f.number);
  if (!questions_.is_name(at)) return;
  questions::question q = questions_.take(at);
  if (f.receiver && !f.sender) return resolved_here(std::move(q), f.receiver);
  if (!f.sender || f.receiver) {
    if (f.sender)
      post({.kind = frame_kind::release, .receiver = f.sender, .number = 1}, empty_payload());
    return q.resolved->failed(base::make_error(net_errc::decode_failed, "a resolved name"));
  }
  q.resolved->found(proxies_.receive(f.sender, *q.expected));
}

/// Answers a question for a name of the peer that leads to an actor of this end. The asker gets the
/// local handle, with which it may do no more than with the peer's number. So the asked protocol is
/// compared with those with which the actor was given away, and not with the protocol that the peer
/// has sent.
void link::resolved_here(questions::question q, const actor_id& id) {
  // The peer holds the actor while it answers, and its release arrives after this answer. So an
  // unknown number is not a lost race: the peer lies.
  const exports::entry* const x = exports_.find_given(id);
  if (x == nullptr)
    return q.resolved->failed(
        base::make_error(net_errc::decode_failed, "a resolved name",
                         "the peer's number names no actor that was given to it"));
  if (const signature_codec* const s = x->lacks(*q.expected))
    return q.resolved->failed(
        base::make_error(net_errc::incompatible, s->message.content->name,
                         "the actor is this node's, and was not given away with this message"));
  core::cell* const who = core::handle_access::get(x->who);
  if (who->has_ended())  // which only this node knows
    return q.resolved->failed(
        base::make_error(system::registry_errc::not_found,
                         "the name leads to an actor of this node that has ended"));
  who->add_strong();
  q.resolved->found(who);
}

void link::on_spawn(const frame& f) {
  const base::result<spawn_order> order = decode<spawn_order>(f.payload);
  budget_.pay(cost_of(f, order ? &order->types : nullptr));
  if (!order) return refuse(f, order.error());
  if (const base::error no = check(order->types)) return refuse(f, no);
  const std::string name = printable(order->name, longest_name);  // for errors
  const std::shared_ptr<const spawnable> what = node_->allowed(order->name);
  if (what == nullptr)
    return refuse(f, base::make_error(net_errc::denied, name,
                                      "the node does not allow this name to be spawned"));
  if (const base::error no = difference(order->types, *what->arguments()))
    return refuse(f, no.at(name + ", its arguments"));
  if (spawning_ + exports_.spawned() >= node_->settings().most_spawned ||
      exports_.size() >= node_->settings().most_exports)
    return refuse(f, base::make_error(net_errc::overload, "a node", "too many spawned actors"));
  byte_reader in(order->arguments, {.names = names_.get()},
                 codec_context(static_cast<handle_porter&>(handles_)));
  std::unique_ptr<prepared_spawn> prepared;
  try {
    prepared = what->prepare(in);
  } catch (const std::exception& e) {
    return refuse(f, base::make_error(net_errc::decode_failed, name, printable(e.what())));
  } catch (...) {
    return refuse(f, base::make_error(net_errc::decode_failed, name, "a codec has thrown"));
  }
  budget_.pay(in.expanded());
  if (prepared == nullptr) return refuse(f, in.failure());
  auto job = std::make_unique<spawn_job>(node_->env(), self_, f.number, what, std::move(prepared));
  ++spawning_;
  core::detail::spawn_function(
      node_->env(), nullptr, nullptr,
      [](core::dynamic_actor&, const std::unique_ptr<spawn_job>& to_do) { to_do->run(); },
      std::move(job));
}

void link::spawned(std::uint64_t number, const spawnable& what, base::result<core::any_ref> who) {
  --spawning_;
  if (is_closed_) return;
  const frame asked{.kind = frame_kind::spawn, .number = number};
  if (!who) return refuse(asked, who.error());
  std::optional<packet> p = payload_of(*what.protocol().described());
  if (!p) return refuse(asked, base::error(net_errc::not_encodable));
  const actor_id id = exports_.hold_spawned(*core::handle_access::get(*who), what.protocol());
  post({.kind = frame_kind::spawned, .sender = id, .number = number}, std::move(*p));
}

void link::on_spawned(const frame& f) {
  const questions::place at = questions_.find(f.number);
  if (!questions_.is_name(at)) return;
  const questions::question q = questions_.take(at);
  base::error no;
  const base::result<schema> protocol = decode_schema(f.payload);
  budget_.pay(cost_of(f, protocol ? &*protocol : nullptr));
  if (!protocol)
    no = protocol.error();
  else
    no = supports(*q.expected->described(), *protocol);
  if (!f.sender) no = base::make_error(net_errc::decode_failed, "a spawned actor");
  if (no) {
    if (f.sender)
      post({.kind = frame_kind::release, .receiver = f.sender, .number = 1}, empty_payload());
    return q.resolved->failed(no);
  }
  q.resolved->found(proxies_.receive(f.sender, *q.expected));
}

}  // namespace garrick::net::internal
