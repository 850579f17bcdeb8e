// The empty bodies of a probe's events. They are here and not in the header, so that a program has
// one copy of them, and one table of virtual functions.
#include "garrick/base/concurrency/probe.hpp"

namespace garrick::base {

probe::~probe() = default;

void probe::on_actor_spawned(const spawned_actor&) noexcept {}
void probe::on_actor_ended(std::uint64_t, const exit_reason&) noexcept {}
void probe::on_actor_failed(std::uint64_t, const message_type*, const exit_reason&) noexcept {}
void probe::on_actor_restarted(std::uint64_t, std::uint32_t) noexcept {}
void probe::on_dead_letter(std::uint64_t, std::uint64_t, const message_type*,
                           const error&) noexcept {}
void probe::on_mailbox_doubled(std::uint64_t, std::uint64_t) noexcept {}
void probe::on_sender_waits(std::uint64_t, std::uint64_t) noexcept {}
void probe::on_sender_goes_on(std::uint64_t, std::uint64_t) noexcept {}
void probe::on_run_in_place(std::uint64_t, std::uint64_t) noexcept {}
void probe::on_timer_fired(std::uint64_t, const message_type*) noexcept {}
void probe::on_request_timed_out(std::uint64_t, std::uint64_t) noexcept {}
void probe::on_request_cycle(std::uint64_t) noexcept {}
void probe::on_worker_parked(std::uint32_t) noexcept {}
void probe::on_worker_woke(std::uint32_t) noexcept {}
void probe::on_stolen(std::uint32_t, std::uint32_t) noexcept {}
void probe::on_stall(std::uint32_t, std::uint64_t, const message_type*, duration) noexcept {}

}  // namespace garrick::base
