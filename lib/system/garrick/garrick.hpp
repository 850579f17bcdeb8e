// The names that most programs with actors need, in one namespace.
//
//   struct greet {
//     std::string name;
//   };
//   using greeter = garrick::protocol<std::string(greet)>;
//   class greeter_actor : public garrick::actor<greeter> {
//    public:
//     std::string on(const greet& g) { return "Hello, " + g.name; }
//   };
//
//   garrick::actor_system system;
//   const auto host = system.spawn<greeter_actor>();
//   std::puts(system.request(host, greet{"Ada"}).get().value().c_str());
#pragma once

// A program may choose the names of its globals freely: a parameter in these headers with the same
// name must cause no warning for users that compile with -Wshadow.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// These headers come first and in this order, so that the compiler's errors in them show a short
// list of includes.
#include <garrick/base/platform/supported.hpp>

#include <garrick/base/types/sendable.hpp>

#include <garrick/base/time/clock.hpp>

#include <garrick/core/protocol/protocol.hpp>

#include <garrick/core/ref.hpp>

#include <garrick/core/send.hpp>

#include <garrick/core/request.hpp>

#include <garrick/core/detail/handlers.hpp>

#include <garrick/core/behavior.hpp>

#include <garrick/core/detail/spawn_check.hpp>

#include <garrick/core/actor.hpp>

#include <garrick/system/spawner.hpp>

#include <garrick/core/adapt.hpp>
#include <garrick/core/changing_router.hpp>
#include <garrick/core/composition.hpp>
#include <garrick/core/latest.hpp>
#include <garrick/core/loop_executor.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/outside_work.hpp>
#include <garrick/core/protocol/atom.hpp>
#include <garrick/core/router.hpp>
#include <garrick/core/supervision/supervisor.hpp>
#include <garrick/core/task.hpp>
#include <garrick/system/actor_system.hpp>
#include <garrick/system/composition.hpp>
#include <garrick/system/names/directory.hpp>

#pragma GCC diagnostic pop

namespace garrick {

using base::duration;
using base::errc;
using base::error;
using base::exit_code;
using base::exit_reason;
using base::instant;
using base::locality_hint;
using base::make_error;

using core::actor;
using core::actor_base;
using core::adapt;
using core::address;
using core::after;
using core::any;
using core::any_ref;
using core::atom;
using core::backoff;
using core::behavior;
using core::blocking_actor;
using core::blocking_actor_ends;
using core::completion;
using core::broadcast;
using core::by_key;
using core::changing_router;
using core::child;
using core::signals::child_failed;
using core::child_info;
using core::child_options;
using core::child_spec;
using core::delegated;
using core::down;
using core::dynamic_actor;
using core::exit_signal;
using core::fan_out;
using core::first_of;
using core::find_child;
using core::keep_behavior;
using core::lent;
using core::latest;
using core::least_loaded;
using core::list_children;
using core::mailbox_policy;
using core::loop_executor;
using core::loop_job;
using core::make_message;
using core::message;
using core::monitor_id;
using core::near;
using core::news;
using core::no_in_place_scope;
using core::no_wait_scope;
using core::on;
using core::one_for_all;
using core::one_for_one;
using core::otherwise;
using core::outside_work;
using core::pending_response;
using core::permanent;
using core::protocol;
using core::random_member;
using core::receive_timeout;
using core::ref;
using core::report_dead_letter;
using core::response_promise;
using core::rest_for_one;
using core::restart_policy;
using core::restart_strategy;
using core::result;
using core::round_robin;
using core::route_by_key;
using core::router;
using core::run_in_place;
using core::scoped_actor;
using core::send;
using core::send_urgent;
using core::spawn_options;
using core::spawn_pool;
using core::stateful;
using core::stop_child;
using core::stop_children;
using core::stop_report;
using core::supervise;
using core::supervision;
using core::supervisor;
using core::supervisor_protocol;
using core::task;
using core::temporary;
using core::timer;
using core::transient;
using core::try_send;
using core::typed_actor;
using core::typed_behavior;
using core::unmatched;
using core::weak_ref;

using system::actor_system;
using system::dead_letter;
using system::fan_out;
using system::first_of;
using system::group;
using system::groups_errc;
using system::groups_of;
using system::registry_errc;
using system::registry_of;
using system::settings;
using system::shutdown_report;

}  // namespace garrick
