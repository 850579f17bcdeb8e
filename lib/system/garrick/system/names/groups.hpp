// Publish and subscribe within one system. A topic has a name and a protocol; actors join and leave
// it, and a publication is sent to all its members.
//
//   result<group<news>> topic = system.groups().get<news>("news");
//   topic->join(reader);              // a handle with at least the topic's signatures
//   topic->publish(headline{"…"});    // one shared block, an envelope each
//
// A member that ends leaves its groups. A publication to a group without members is not a dead
// letter. A group holds strong handles: an actor that only a group can reach is not reclaimed until
// it leaves or the system ends. Order: publications of one sender reach each member in that
// sender's order. An actor that joins while a message is being published may or may not get it.
//
// Errors: groups_errc. Thread safety: any thread; copies of a `group` name the same topic.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/system/names/end_watcher.hpp>
#include <garrick/system/names/protocol_table.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garrick::system {

/// The refusals of the groups.
enum class groups_errc : std::uint32_t {
  wrong_protocol = 1,  ///< the topic was made with another protocol
  empty_handle,        ///< an empty handle cannot join
  closed,              ///< the system has begun to stop
};
/// Returns the category of these errors.
[[nodiscard]] const base::error_category& error_category_of(groups_errc) noexcept;

class groups;

namespace detail {

/// A topic and its members.
class topic {
 public:
  using members = std::vector<core::any_ref>;
  topic(std::string name, protocol_set protocol) : name_(std::move(name)), protocol_(protocol) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const protocol_set& protocol() const noexcept { return protocol_; }
  /// Adds a member. Returns false if `who` was a member already, or the topic is closed.
  bool add(const core::any_ref& who);
  bool remove(std::uint64_t id);
  /// Removes all members and refuses later joins, at the end of the system.
  void close();
  [[nodiscard]] bool is_closed() const;
  /// Returns the lock that a thread holds during a join: it keeps the topic from closing, and so
  /// its system from being destroyed. It is taken before all other locks.
  [[nodiscard]] std::mutex& door() noexcept { return door_; }
  /// Returns the present members. The list is built by the first call after a change, then shared.
  [[nodiscard]] std::shared_ptr<const members> snapshot() const;
  /// Returns the number of members that have not ended.
  [[nodiscard]] std::size_t size() const;

 private:
  const std::string name_;
  const protocol_set protocol_;
  std::mutex door_;
  mutable std::mutex mutex_;
  // under `mutex_`
  members members_;
  std::unordered_map<std::uint64_t, std::size_t> place_;  // in `members_`, by the actor's id
  mutable std::shared_ptr<const members> snapshot_;       // null: the members have changed since
  bool closed_ = false;
};

void publish(const topic& t, const core::message& m);

}  // namespace detail

/// A topic with the protocol P. It may be sent in messages, and may outlive its system: after the
/// system's end no actor can join, and a publication reaches no actor. Any thread; copies name the
/// same topic.
///
///     group<news> topic = system.groups().get<news>("news").value();
///     topic.join(reader);  topic.publish(headline{"…"});
template <class P>
class group {
 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< a topic belongs to its system
  using protocol_type = P;         ///< the messages that may be published

  /// Makes `who` a member: it gets all later publications until it leaves or ends, and the group
  /// holds a strong handle to it until then. Joining again has no effect. Errors: `empty_handle`,
  /// `closed`. Throws std::bad_alloc.
  base::result<void> join(const core::ref<P>& who) const;
  /// Removes `who`: it gets no later publications. Returns true if it was a member.
  bool leave(const core::handle& who) const { return topic_->remove(who.id()); }
  /// Sends a message to every member; the compiler checks it like every send. Requires a copyable
  /// message. All members share one block with the content, so a publication allocates that block,
  /// and an envelope for each member. Throws std::bad_alloc. May wait for full mailboxes, as every
  /// send does.
  template <class... Args>
  void publish(Args&&... args) const {
    static_assert(core::detail::checked_message<P, Args...>::fits);
    detail::publish(*topic_, core::make_message(std::forward<Args>(args)...));
  }
  /// Returns the number of members that have not ended. Looks at each member.
  [[nodiscard]] std::size_t size() const { return topic_->size(); }
  /// Returns the topic's name; the reference is valid as long as this object lives.
  [[nodiscard]] const std::string& name() const noexcept { return topic_->name(); }

 private:
  friend class groups;
  group(groups& all, std::shared_ptr<detail::topic> t) noexcept
      : all_(&all), topic_(std::move(t)) {}
  groups* all_;  ///< the system's; used only under `door`, while the topic is open
  std::shared_ptr<detail::topic> topic_;
};

/// The topics of one system. Reached by `system.groups()` and, in an actor, `groups_of(*this)`. Any
/// thread; a call holds a lock for the time of a look-up.
class groups {
 public:
  /// For the system: makes an object without topics; `env` outlives it.
  explicit groups(core::environment& env) noexcept;
  ~groups() { close(); }
  groups(const groups&) = delete;
  groups& operator=(const groups&) = delete;

  /// Returns the topic of that name, or makes it. The first `get` of a topic fixes its protocol.
  /// Topics stay until the system ends. Errors: `wrong_protocol` if the topic has another protocol;
  /// `closed`. Throws std::bad_alloc.
  template <class P>
  [[nodiscard]] base::result<group<P>> get(std::string_view name) {
    auto t = find(name, protocol_set_of<P>());
    if (!t) return t.error();
    return group<P>(*this, std::move(*t));
  }
  /// Returns the topics' names, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// For the system, at its end: makes later `get` and `join` fail. The handle of a member that
  /// ends is kept until `close`.
  void seal() noexcept;
  /// For the system, at its end: empties every topic, and makes later `get` and `join` fail.
  void close() noexcept;

 private:
  template <class>
  friend class group;
  [[nodiscard]] base::result<std::shared_ptr<detail::topic>> find(std::string_view name,
                                                                  protocol_set protocol);
  base::result<void> join(const std::shared_ptr<detail::topic>& t, core::any_ref who);
  void forget(const core::address& who) noexcept;

  end_watcher watcher_;
  mutable std::mutex mutex_;
  // under `mutex_`, by name
  std::unordered_map<std::string, std::shared_ptr<detail::topic>> topics_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<detail::topic>>
      topics_of_;        // under `mutex_`; by the actor that leaves them at its end
  bool closed_ = false;  // under `mutex_`
};

template <class P>
base::result<void> group<P>::join(const core::ref<P>& who) const {
  const std::lock_guard guard(topic_->door());
  if (topic_->is_closed()) return base::make_error(groups_errc::closed, topic_->name());
  if constexpr (std::is_same_v<P, core::any_protocol>)
    return all_->join(topic_, who);
  else
    return all_->join(topic_, core::any_ref(who));
}

}  // namespace garrick::system
