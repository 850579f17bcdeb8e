#include <garrick/patterns/detail/inlet.hpp>

#include <utility>

namespace garrick::patterns::detail {

builder builder::inside(const std::string& part) const {
  builder b = *this;
  b.path += part;
  return b;
}

node_options builder::node(const std::string& name, bool own_thread) const {
  return {
      .name = path + name, .own_thread = own_thread, .in_place = options.in_place, .loops = loops};
}

namespace {

/// The entrance of one node.
class node_inlet final : public inlet {
 public:
  node_inlet(node& to, inputs& in, std::size_t capacity) : to_(to), in_(in), capacity_(capacity) {}
  std::unique_ptr<output> connect(node& producer, const loop* back_edge) override {
    auto made = std::make_shared<channel>(in_.type(), capacity_);
    in_.add(made, producer, back_edge);
    return std::make_unique<channel_output>(std::move(made), to_);
  }

 private:
  node& to_;
  inputs& in_;
  std::size_t capacity_;
};

}  // namespace

any_inlet_ptr inlet_of(node& to, inputs& in, std::size_t capacity) {
  return std::make_shared<node_inlet>(to, in, capacity);
}

several_inlets::several_inlets(std::vector<any_inlet_ptr> to, bool may_refuse)
    : to_(std::move(to)), may_refuse_(may_refuse) {}

std::unique_ptr<output> several_inlets::connect(node& producer, const loop* back_edge) {
  std::vector<std::unique_ptr<output>> all;
  for (const auto& i : to_) all.push_back(i->connect(producer, back_edge));
  if (all.size() == 1 && !may_refuse_) return std::move(all.front());
  return route(std::move(all));
}

std::unique_ptr<output> connect(const any_inlet_ptr& next, node& producer) {
  if (next == nullptr) return std::make_unique<no_output>();
  return next->connect(producer);
}

stage_node& add_stage(const builder& b, const node_options& o, on_failure policy,
                      const stage_type& type, const void* prototype, const tuple_type& takes) {
  return b.to.add_node<stage_node>(o, policy, type, prototype, takes);
}

any_inlet_ptr add_stage_before(const builder& b, const node_options& o, on_failure policy,
                               const stage_type& type, const void* prototype,
                               const tuple_type& takes, const any_inlet_ptr& next) {
  stage_node& n = add_stage(b, o, policy, type, prototype, takes);
  n.to(connect(next, n));
  return inlet_of(n, n.in(), b.options.capacity);
}

any_seq::any_seq(const stage_type& type, const void* of, const tuple_type* takes, std::string n)
    : name(std::move(n)), shared_(std::make_shared<stage_object>(type, of)), takes_(takes) {}
any_seq::any_seq(const any_seq& o) = default;
any_seq::any_seq(any_seq&& o) noexcept = default;
any_seq& any_seq::operator=(const any_seq& o) = default;
any_seq& any_seq::operator=(any_seq&& o) noexcept = default;
any_seq::~any_seq() = default;

bool any_seq::may_be_fused() const noexcept {
  return !type().needs_a_node && !own_thread && policy == on_failure::fail;
}

plan any_seq::describe() const {
  return {.what = "stage",
          .name = name,
          .is_source = takes_ == nullptr,
          .own_thread = own_thread,
          .cheap = cheap,
          .may_be_fused = may_be_fused(),
          .emitter = false};
}

namespace {

/// Makes the node of a stage. `make_output` gives the node's output.
template <class MakeOutput>
any_inlet_ptr build_with(const builder& b, const any_seq& s, const std::string& name,
                         const MakeOutput& make_output) {
  node_options o = b.node(name, s.own_thread);
  o.in_place = o.in_place && s.type().deadline == nullptr;
  if (s.takes() == nullptr) {
    auto& n = b.to.add_node<source_node>(o, s.policy, s.type(), s.prototype());
    n.to(make_output(n));
    return {};
  }
  stage_node& n = add_stage(b, o, s.policy, s.type(), s.prototype(), *s.takes());
  n.to(make_output(n));
  return inlet_of(n, n.in(), b.options.capacity);
}

}  // namespace

any_inlet_ptr any_seq::build(const builder& b, const any_inlet_ptr& next) const {
  return build_with(b, *this, name, [&](node& n) { return connect(next, n); });
}

any_inlet_ptr build_row(const builder& b, std::span<const part_of_row> parts,
                        const any_inlet_ptr& next) {
  if (parts.empty()) return next;
  const part_of_row& first = parts.front();
  if (first.seq == nullptr)
    return first.build(first.pattern, b, build_row(b, parts.subspan(1), next));
  std::string name = first.seq->name;
  bool busy = !first.seq->cheap;  // one of the node's parts is not cheap
  std::size_t n = 1;              // the node's parts
  for (; n < parts.size() && b.options.fuse && parts[n - 1].seq->may_be_fused(); ++n) {
    const any_seq* const more = parts[n].seq;
    if (more == nullptr || !more->may_be_fused() || (busy && !more->cheap)) break;
    busy = busy || !more->cheap;
    name += "+" + more->name;
  }
  const any_inlet_ptr behind = build_row(b, parts.subspan(n), next);
  return build_with(b, *first.seq, name, [&](node& made) {
    std::unique_ptr<output> to = connect(behind, made);
    for (std::size_t i = n - 1; i != 0; --i)
      to = std::make_unique<fused_output>(b.to, parts[i].seq->type(), parts[i].seq->prototype(),
                                          std::move(to));
    return to;
  });
}

plan describe_row(const char* what, std::span<const part_of_row> parts) {
  plan p{.what = what, .emitter = false};
  for (const part_of_row& part : parts)
    p.parts.push_back(part.seq != nullptr ? part.seq->describe() : part.describe(part.pattern));
  return p;
}

}  // namespace garrick::patterns::detail
