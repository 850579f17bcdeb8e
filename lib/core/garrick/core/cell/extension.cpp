// The functions of a cell that look into its extension.
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/extension.hpp>

#include <memory>
#include <new>
#include <utility>

namespace garrick::core {

cell::~cell() { delete ext_; }

cell_extension& cell::ext() {
  if (ext_ == nullptr) ext_ = new cell_extension;
  return *ext_;
}

cell_extension& cell::spawn_constants() {
  cell_extension& x = ext();
  has_spawn_constants_ = true;
  return x;
}

void cell::set_executor(base::executor& own) {
  ext().executor = &own;
  own_executor_ = true;
}

base::executor& cell::own_executor() const noexcept { return *ext_->executor; }

void cell::set_room_elsewhere(belongings* where) {
  std::unique_ptr<belongings> mine(where);
  spawn_constants().room_elsewhere = std::move(mine);
}

belongings* cell::room_elsewhere() const noexcept {
  return has_spawn_constants_ ? ext_->room_elsewhere.get() : nullptr;
}

std::uint32_t cell::hard_limit() const noexcept {
  const std::uint32_t own = has_spawn_constants_ ? ext_->hard_limit : 0;
  return own != 0 ? own : env_->mailbox.hard_limit;
}

std::string_view cell::name() const noexcept {
  if (has_spawn_constants_ && !ext_->name.empty()) return ext_->name;
  return type_name();
}

bool cell::is_supervised() const noexcept {
  return has_spawn_constants_ && ext_->parent != nullptr;
}

std::uint64_t cell::supervisor_id() const noexcept {
  return is_supervised() ? ext_->parent->supervisor.id() : 0;
}

bool cell::awaits_restart() const noexcept {
  // order: relaxed; a sender has read the epoch of its word before it waits
  return is_supervised() && ext_->parent->awaits_restart.load(std::memory_order_relaxed);
}

std::uint32_t cell::restarts() const noexcept {
  // order: relaxed; a number for diagnosis
  return is_supervised() ? ext_->parent->restarts.load(std::memory_order_relaxed) : 0;
}

base::exit_reason cell::end_reason() const {
  // order: acquire pairs with the release in close(): the reason was written before
  static_cast<void>(gate_.peek_acquire());
  return ext_ != nullptr && !ext_->reason.is_normal() ? ext_->reason : base::exit_reason{end_code_};
}

void cell::quit(base::exit_reason reason) noexcept {
  if (phase() >= life::ending) return;
  set_phase(life::ending);
  end_code_ = reason.code();
  if (reason.detail().empty() && end_code_ != base::exit_code::failure) return;
  try {
    ext().reason = std::move(reason);
  } catch (const std::bad_alloc&) {  // then only the code is kept
  }
}

std::uint32_t cell::skipped_count() const noexcept {
  return ext_ != nullptr ? ext_->skipped_count : 0;
}

bool cell::is_stalled() const noexcept {
  return ext_ != nullptr && (phase() == life::suspended || !ext_->awaiting.empty());
}

void cell::retry_skipped() noexcept {
  if (ext_ == nullptr || ext_->skipped.front == nullptr) return;
  reader_.prepend(ext_->skipped.front, ext_->skipped.back);
  ext_->skipped = {};
  ext_->skipped_count = 0;
}

}  // namespace garrick::core
