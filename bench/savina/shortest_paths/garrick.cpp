// Each actor holds a block of the distances. In every round it sends its block to all that share
// its row or column, and goes on when it has theirs. The readers of a block share it. Neighbours
// may be a round ahead, so blocks are kept by round and sender.
#include <array>
#include <map>
#include <memory>

#include "common/garrick_system.hpp"
#include "savina/shortest_paths/distances.hpp"

namespace {

using shared_block = std::shared_ptr<const bench::distances>;
struct state {
  std::uint32_t round;
  std::uint32_t row;
  std::uint32_t column;
  shared_block cells;
};
struct finished {
  shared_block cells;
};
using peer = garrick::protocol<void(state)>;
struct meet {
  std::vector<garrick::ref<peer>> neighbours;
};
using collector = garrick::protocol<void(finished)>;

struct layout {
  std::uint32_t nodes;
  std::uint32_t block;
  [[nodiscard]] std::uint32_t side() const { return nodes / block; }
};

class block_actor : public garrick::actor<garrick::protocol<void(meet), void(state)>> {
 public:
  block_actor(layout l, std::uint32_t row, std::uint32_t column, shared_block cells,
              garrick::ref<collector> result)
      : layout_(l),
        row_(row),
        column_(column),
        cells_(std::move(cells)),
        result_(std::move(result)) {}

  void on(meet& m) {
    neighbours_ = std::move(m.neighbours);
    met_ = true;
    announce();
    advance();
  }
  void on(state& s) {
    ++arrived_[s.round];
    blocks_[{s.round, s.row, s.column}] = std::move(s.cells);
    advance();
  }

 private:
  void announce() {
    blocks_[{round_, row_, column_}] = cells_;
    for (const auto& n : neighbours_) send(n, state{round_, row_, column_, cells_});
  }
  void advance() {
    while (met_ && arrived_[round_] == neighbours_.size()) {
      const std::uint32_t at = round_ / layout_.block;
      const shared_block& to_k = blocks_.at({round_, row_, at});
      const shared_block& from_k = blocks_.at({round_, at, column_});
      cells_ = std::make_shared<const bench::distances>(
          bench::relax(*cells_, *to_k, *from_k, layout_.block, round_ % layout_.block));
      arrived_.erase(round_);
      blocks_.erase(blocks_.begin(), blocks_.lower_bound({round_ + 1, 0, 0}));
      if (++round_ == layout_.nodes) {
        send(result_, finished{cells_});
        neighbours_.clear();  // neighbours know each other: each lets go of the others
        return;
      }
      announce();
    }
  }

  layout layout_;
  std::uint32_t row_;
  std::uint32_t column_;
  shared_block cells_;
  garrick::ref<collector> result_;
  std::vector<garrick::ref<peer>> neighbours_;
  bool met_ = false;
  std::uint32_t round_ = 0;
  std::map<std::uint32_t, std::size_t> arrived_;
  std::map<std::array<std::uint32_t, 3>, shared_block> blocks_;  // by round, row and column
};

class master : public garrick::actor<collector> {
 public:
  master(layout l, bench::path_lengths* found) : layout_(l), found_(found) {}

  void on_start() {
    const bench::distances graph = bench::make_graph(layout_.nodes);
    const std::uint32_t side = layout_.side();
    std::vector<garrick::ref<garrick::protocol<void(meet), void(state)>>> blocks;
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < side; ++column) {
        auto cells = std::make_shared<const bench::distances>(
            bench::cut_block(graph, layout_.nodes, layout_.block, row, column));
        blocks.push_back(spawn<block_actor>(layout_, row, column, std::move(cells), self()));
      }
    }
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      meet m;
      for (std::uint32_t j = 0; j < blocks.size(); ++j) {
        if (j != i && (j / side == i / side || j % side == i % side))
          m.neighbours.push_back(blocks[j]);
      }
      send(blocks[i], std::move(m));
    }
  }
  void on(const finished& f) { found_->add(*f.cells); }

 private:
  layout layout_;
  bench::path_lengths* found_;
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto nodes = static_cast<std::uint32_t>(args.number("nodes", 300));
  const auto block = static_cast<std::uint32_t>(args.number("block", 50));

  path_lengths found;
  out.seconds = run_system(args, [&](garrick::actor_system& system) {
    static_cast<void>(system.spawn<master>(layout{nodes, block}, garrick::lent(&found)));
    static_cast<void>(system.await_all());
  });
  check_paths(out, found, nodes, block);
}
