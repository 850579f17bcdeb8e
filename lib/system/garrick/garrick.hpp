// Everything a program with actors needs, in one namespace.
#pragma once

#include <garrick/core/atom.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/task.hpp>
#include <garrick/system/actor_system.hpp>

namespace garrick {

using base::duration;
using base::errc;
using base::error;
using base::exit_code;
using base::exit_reason;
using base::instant;
using base::make_error;

using core::actor;
using core::actor_base;
using core::address;
using core::after;
using core::any;
using core::any_ref;
using core::atom;
using core::behavior;
using core::blocking_actor;
using core::delegated;
using core::down;
using core::dynamic_actor;
using core::exit_signal;
using core::keep_behavior;
using core::make_message;
using core::message;
using core::monitor_id;
using core::no_in_place_scope;
using core::on;
using core::otherwise;
using core::protocol;
using core::ref;
using core::response_promise;
using core::result;
using core::send;
using core::send_urgent;
using core::spawn_options;
using core::stateful;
using core::task;
using core::timer;
using core::typed_actor;
using core::typed_behavior;
using core::unmatched;
using core::weak_ref;

using system::actor_system;
using system::dead_letter;
using system::options;
using system::shutdown_report;

}  // namespace garrick
