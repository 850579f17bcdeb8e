// A quadtree of actors. A customer goes to the leaf in whose quadrant he lives. A leaf whose
// customers are too far from the facilities that it knows opens its own and gives its customers to
// four children. News of it goes to all above, and from each to the opposite quadrant and the nodes
// below. The time at which news arrives depends on the schedule, so only the number of customers is
// known beforehand.
#include "common/garrick_system.hpp"
#include "savina/facility_location/quadtree.hpp"

namespace {

using bench::point;

struct produce {};
using production = garrick::protocol<void(produce)>;
struct customer {
  point at;
};
struct opened {  // by a child, or in its part of the tree
  point at;
  std::uint32_t child;
};
struct news {  // from above
  point at;
};
struct finish {};
using above = garrick::protocol<void(opened), void(bench::tree_count)>;
using quadrant = garrick::protocol<void(customer), void(news), void(finish)>;

struct inheritance {
  bench::box bounds;
  std::uint32_t position = 0;
  std::vector<point> facilities;
  std::vector<point> customers;
  garrick::ref<production> producer;  // the root's only
};

class quadrant_actor
    : public garrick::actor<garrick::protocol<void(customer), void(news), void(finish),
                                              void(opened), void(bench::tree_count)>> {
 public:
  quadrant_actor(garrick::ref<above> parent, inheritance i)
      : parent_(std::move(parent)),
        bounds_(i.bounds),
        position_(i.position),
        facilities_(std::move(i.facilities)),
        producer_(std::move(i.producer)) {
    facilities_.push_back(bounds_.middle());
    for (const point& c : i.customers) admit(c);
  }

  void on(customer c) {
    if (producer_) send(producer_, produce{});
    if (!children_.empty()) {
      send(children_[bounds_.quadrant_of(c.at)], c);
      return;
    }
    admit(c.at);
    if (cost_ > bench::opening_cost()) divide();
  }
  void on(opened o) {
    facilities_.push_back(o.at);
    send(parent_, opened{o.at, position_});
    send(children_[3 - o.child], news{o.at});
  }
  void on(news n) {
    facilities_.push_back(n.at);
    for (const auto& c : children_) send(c, n);
  }
  void on(finish f) {
    for (const auto& c : children_) send(c, f);
    if (children_.empty()) send(parent_, bench::tree_count{customers_.size(), 0, 1});
  }
  void on(const bench::tree_count& part) {
    count_.customers += part.customers;
    count_.facilities += part.facilities;
    count_.leaves += part.leaves;
    if (++answers_ < 4) return;
    ++count_.facilities;
    send(parent_, count_);
    children_.clear();  // parents and children know each other: the parent lets go
  }

 private:
  void admit(const point& c) {
    customers_.push_back(c);
    cost_ += bench::cost(c, facilities_);
  }
  void divide() {
    std::vector<inheritance> shares(4);
    for (const point& c : customers_) shares[bounds_.quadrant_of(c)].customers.push_back(c);
    customers_.clear();
    for (std::uint32_t i = 0; i < 4; ++i) {
      shares[i].bounds = bounds_.quadrant(i);
      shares[i].position = i;
      shares[i].facilities = facilities_;
      children_.push_back(spawn<quadrant_actor>(self(), std::move(shares[i])));
    }
    send(parent_, opened{bounds_.middle(), position_});
  }

  garrick::ref<above> parent_;
  bench::box bounds_;
  std::uint32_t position_;
  std::vector<point> facilities_;
  std::vector<point> customers_;
  garrick::ref<production> producer_;
  double cost_ = 0;
  std::vector<garrick::ref<quadrant>> children_;
  bench::tree_count count_;
  int answers_ = 0;
};

struct outcome {
  bench::tree_count tree;
  std::uint64_t openings = 0;
};

// The parent of the root. Sends it a customer whenever it asks for one.
class producer : public garrick::actor<
                     garrick::protocol<void(produce), void(opened), void(bench::tree_count)>> {
 public:
  producer(std::uint64_t customers, outcome* found) : customers_(customers), found_(found) {}

  void on_start() {
    inheritance all;
    all.producer = self();
    root_ = spawn<quadrant_actor>(self(), std::move(all));
    on(produce{});
  }
  void on(produce) {
    if (produced_++ < customers_)
      send(root_, customer{bench::next_customer(random_)});
    else
      send(root_, finish{});
  }
  void on(opened) { ++found_->openings; }
  void on(const bench::tree_count& all) {
    found_->tree = all;
    root_ = {};
  }

 private:
  std::uint64_t customers_;
  outcome* found_;
  garrick::ref<quadrant> root_;
  bench::savina::random_numbers random_{123'456};
  std::uint64_t produced_ = 0;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const std::uint64_t customers = args.number("customers", 100'000);

  outcome found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    static_cast<void>(system.spawn<producer>(customers, garrick::lent(&found)));
    static_cast<void>(system.await_all());
  });
  out.items = customers;
  out.expect("customers", customers, found.tree.customers);
  out.expect("leaves", 3 * found.tree.facilities + 1, found.tree.leaves);
  out.expect("openings that the root heard of", found.tree.facilities, found.openings);
}
