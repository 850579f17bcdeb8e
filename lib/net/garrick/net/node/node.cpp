#include <garrick/net/node/node.hpp>

#include <garrick/net/error.hpp>
#include <garrick/net/node/internal/link_port.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/printable.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace garrick::net {

namespace {

/// A question to a node. If the link in use ends before it gets the question, another one is
/// dialled.
class question : public std::enable_shared_from_this<question> {
 public:
  question(std::shared_ptr<internal::node_core> node, whereabouts at)
      : node_(std::move(node)), at_(std::move(at)) {}
  virtual ~question() = default;
  question(const question&) = delete;
  question& operator=(const question&) = delete;

  void begin() {
    if (const base::error no = node_->wrong_process()) return fail(no);
    auto ask = [q = shared_from_this()](const base::result<connection>& link) {
      if (!link) return q->fail(link.error());
      link->insist(asking(q));
    };
    if (const peer_identity* const peer = at_.peer()) return ask(node_->link_to(*peer));
    const base::result<endpoint> to = endpoint::parse(*at_.text());
    if (!to) return fail(to.error());
    node_->dial(*to, std::move(ask));
  }

 protected:
  void not_asked() noexcept {
    const std::string at = at_.peer() != nullptr ? at_.peer()->to_string() : *at_.text();
    if (++dials_ == most_dials)
      return fail(base::make_error(net_errc::node_down, at, "the link is over"));
    try {
      begin();
    } catch (const std::exception& e) { fail(base::make_error(net_errc::node_down, at, e.what())); }
  }
  /// Returns true if the question goes to the node that is at an endpoint now, in whichever life.
  [[nodiscard]] bool asks_an_endpoint() const noexcept { return at_.peer() == nullptr; }

 private:
  static constexpr int most_dials = 5;

  /// Returns false if the link is over and did not take the question.
  virtual bool ask(internal::link_port& link) = 0;
  virtual void fail(const base::error& why) = 0;

  /// The visit that asks. If the visit is not made, its destructor calls `not_asked`.
  class asking {
   public:
    explicit asking(std::shared_ptr<question> q) noexcept : q_(std::move(q)) {}
    asking(asking&&) noexcept = default;
    asking& operator=(asking&&) = delete;
    ~asking() {
      if (q_ != nullptr) q_->not_asked();
    }
    void operator()(hosted& link) {
      if (q_->ask(static_cast<internal::link_port&>(link))) q_ = {};
    }

   private:
    std::shared_ptr<question> q_;
  };

  const std::shared_ptr<internal::node_core> node_;
  const whereabouts at_;
  int dials_ = 0;
};

/// A question for an actor. If its link ends before there is an answer, the question goes to the
/// node that is at the endpoint then, unless the peer may have acted on it.
class actor_question : public question {
 public:
  actor_question(std::shared_ptr<internal::node_core> node, const whereabouts& at,
                 const protocol_table& as, std::unique_ptr<name_answer> done)
      : question(std::move(node), at), as_(&as), done_(std::move(done)) {}

 private:
  class once final : public name_answer {
   public:
    once(std::shared_ptr<actor_question> asks, std::unique_ptr<name_answer> done) noexcept
        : asks_(std::move(asks)), done_(std::move(done)) {}
    void found(core::cell* who) override { done_->found(who); }
    void failed(const base::error& why) override {
      const bool is_repeated =
          why == base::errc::not_handled ||
          (why == net_errc::perhaps_delivered && asks_->is_harmless_to_repeat());
      if (!is_repeated || !asks_->asks_an_endpoint()) return done_->failed(why);
      asks_->done_ = std::move(done_);
      asks_->not_asked();
    }

    [[nodiscard]] std::unique_ptr<name_answer> take() noexcept { return std::move(done_); }

   private:
    const std::shared_ptr<actor_question> asks_;
    std::unique_ptr<name_answer> done_;
  };

  /// Calls `link_port::resolve` or `link_port::spawn`, and returns the result.
  virtual bool ask(internal::link_port& link, const protocol_table& as,
                   std::unique_ptr<name_answer>& done) = 0;
  /// Returns true if a peer that has got the question may get it again.
  [[nodiscard]] virtual bool is_harmless_to_repeat() const noexcept = 0;

  bool ask(internal::link_port& link) final {
    std::unique_ptr<name_answer> one = std::make_unique<once>(
        std::static_pointer_cast<actor_question>(shared_from_this()), std::move(done_));
    if (ask(link, *as_, one)) return true;
    done_ = static_cast<once&>(*one).take();
    return false;
  }
  void fail(const base::error& why) final {
    if (const auto done = std::exchange(done_, nullptr)) done->failed(why);
  }

  const protocol_table* const as_;
  std::unique_ptr<name_answer> done_;
};

/// Looks a name up. A repeated question may be answered by a later life of the node.
class name_question final : public actor_question {
 public:
  name_question(std::shared_ptr<internal::node_core> node, const whereabouts& at, std::string name,
                const protocol_table& as, std::unique_ptr<name_answer> done)
      : actor_question(std::move(node), at, as, std::move(done)), name_(std::move(name)) {}

 private:
  bool ask(internal::link_port& link, const protocol_table& as,
           std::unique_ptr<name_answer>& done) override {
    return link.resolve(name_, as, done);
  }
  [[nodiscard]] bool is_harmless_to_repeat() const noexcept override { return true; }

  const std::string name_;
};

/// Asks for an actor to be spawned.
class spawn_question final : public actor_question {
 public:
  spawn_question(std::shared_ptr<internal::node_core> node, const whereabouts& at, std::string name,
                 std::unique_ptr<spawn_arguments> with, const protocol_table& as,
                 std::unique_ptr<name_answer> done)
      : actor_question(std::move(node), at, as, std::move(done)),
        name_(std::move(name)),
        with_(std::move(with)) {}

 private:
  bool ask(internal::link_port& link, const protocol_table& as,
           std::unique_ptr<name_answer>& done) override {
    return link.spawn(name_, *with_, as, done);
  }
  [[nodiscard]] bool is_harmless_to_repeat() const noexcept override { return false; }

  const std::string name_;
  const std::unique_ptr<spawn_arguments> with_;
};

/// Asks for the peer's identity.
class identity_question final : public question {
 public:
  identity_question(std::shared_ptr<internal::node_core> node, const whereabouts& at,
                    core::completion<peer_identity> done)
      : question(std::move(node), at), done_(std::move(done)) {}

 private:
  bool ask(internal::link_port& link) override {
    done_(link.peer());
    return true;
  }
  void fail(const base::error& why) override { done_.fail(why); }

  const core::completion<peer_identity> done_;
};

/// Returns an error with the beginning of the name if the name is too long.
base::error check_name(std::string_view name) {
  if (name.size() <= longest_name) return {};
  return base::make_error(net_errc::too_large, printable(name, 35),
                          "a name of " + std::to_string(name.size()) + " bytes, where " +
                              std::to_string(longest_name) + " are allowed");
}

}  // namespace

node::node(core::environment& env, node_settings s)
    : core_(std::make_shared<internal::node_core>(env, std::move(s), &internal::make_link)) {}

node::~node() {
  // A forked copy can neither end nor free the links: they are the parent's.
  const bool is_copy = core_->env().is_copy();
  if (is_copy)
    static_cast<void>(new std::shared_ptr<internal::node_core>(std::move(core_)));
  else
    core_->stop();
}

const peer_identity& node::self() const noexcept { return core_->self(); }
core::environment& node::env() const noexcept { return core_->env(); }

base::result<endpoint> node::listen(std::string_view at) {
  const base::result<endpoint> parsed = endpoint::parse(at);
  if (!parsed) return parsed.error();
  return core_->listen(*parsed);
}

base::error node::publish_erased(std::string name, const core::address& who,
                                 const protocol_table& as) {
  if (base::error no = check_name(name)) return no;
  return core_->publish(std::move(name), who, as);
}

bool node::unpublish(std::string_view name) { return core_->unpublish(name); }

base::error node::allow_erased(std::string name, std::shared_ptr<const spawnable> what) {
  if (base::error no = check_name(name)) return no;
  return core_->allow(std::move(name), std::move(what));
}

bool node::disallow(std::string_view name) { return core_->disallow(name); }

void node::resolve_erased(const whereabouts& at, std::string_view name, const protocol_table& as,
                          std::unique_ptr<name_answer> done) {
  if (const base::error no = check_name(name)) return done->failed(no);
  std::make_shared<name_question>(core_, at, std::string(name), as, std::move(done))->begin();
}

void node::spawn_erased(const whereabouts& at, std::string_view name,
                        std::unique_ptr<spawn_arguments> with, const protocol_table& as,
                        std::unique_ptr<name_answer> done) {
  if (const base::error no = check_name(name)) return done->failed(no);
  std::make_shared<spawn_question>(core_, at, std::string(name), std::move(with), as,
                                   std::move(done))
      ->begin();
}

core::pending_response<peer_identity> node::connect(core::actor_base& self, std::string_view at) {
  return core::adapt<peer_identity>(self, [&](core::completion<peer_identity> done) {
    std::make_shared<identity_question>(core_, at, std::move(done))->begin();
  });
}

base::result<peer_identity> node::connect(std::string_view at, base::duration limit) {
  core::scoped_actor me(env());
  return persisting(me, at, limit, [&] { return connect(*me, at); });
}

base::duration node::longest_attempt() const {
  return core_->settings().link.session.handshake_limit;
}

base::error node::explained(const whereabouts& at, const base::error& why,
                            const base::error& earlier) const {
  if (why == base::errc::would_block && !env().is_copy())
    return base::make_error(
        base::errc::would_block, at.text() != nullptr ? std::string_view(*at.text()) : "a node",
        "this is a worker thread: an actor says connect(*this, ...), remote<P>(*this, ...) or "
        "spawn<P>(*this, ...), which are responses to be awaited");
  if (why != base::errc::timeout || at.text() == nullptr) return why;
  const base::result<endpoint> to = endpoint::parse(*at.text());
  const std::string last = to ? core_->last_attempt(*to, earlier) : std::string();
  return base::make_error(base::errc::timeout, *at.text(),
                          last.empty() ? "it has not answered in that time" : last);
}

std::vector<peer_identity> node::peers() const { return core_->peers(); }
std::vector<link_count> node::counters(const peer_identity& who) const {
  return core_->counters(who);
}
void node::subscribe(std::shared_ptr<peer_listener> who) {
  if (who != nullptr) core_->subscribe(std::move(who));
}
void node::quarantine(const peer_identity& who) { core_->quarantine(who); }

}  // namespace garrick::net
