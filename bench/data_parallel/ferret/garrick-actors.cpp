// An actor for each stage, `threads` of them for each in the middle, which get their queries in
// turn.
#include "common/garrick_system.hpp"
#include "data_parallel/ferret/search.hpp"

namespace {

using garrick::actor;
using garrick::protocol;
using garrick::ref;
using shared_gallery = std::shared_ptr<const bench::gallery>;

template <class T>
using stage = ref<protocol<void(T)>>;

// The actors of the next stage.
template <class T>
class several {
 public:
  explicit several(std::vector<stage<T>> all) : all_(std::move(all)) {}
  const stage<T>& next() { return all_[turn_++ % all_.size()]; }

 private:
  std::vector<stage<T>> all_;
  std::size_t turn_ = 0;
};

class collector : public actor<protocol<void(bench::answer)>> {
 public:
  explicit collector(std::vector<bench::answer>* found) : found_(found) {}
  void on(const bench::answer& a) { found_->push_back(a); }

 private:
  std::vector<bench::answer>* found_;
};

class ranker : public actor<protocol<void(bench::indexed)>> {
 public:
  ranker(shared_gallery g, stage<bench::answer> next) : gallery_(std::move(g)), next_(next) {}
  void on(const bench::indexed& q) { send(next_, bench::rank(gallery_->all, q)); }

 private:
  shared_gallery gallery_;
  stage<bench::answer> next_;
};

class indexer : public actor<protocol<void(bench::described)>> {
 public:
  indexer(shared_gallery g, std::vector<stage<bench::indexed>> next)
      : gallery_(std::move(g)), next_(std::move(next)) {}
  void on(const bench::described& d) { send(next_.next(), bench::look_up(gallery_->all, d)); }

 private:
  shared_gallery gallery_;
  several<bench::indexed> next_;
};

class extractor : public actor<protocol<void(bench::segmented)>> {
 public:
  explicit extractor(std::vector<stage<bench::described>> next) : next_(std::move(next)) {}
  void on(bench::segmented s) { send(next_.next(), bench::extract(std::move(s))); }

 private:
  several<bench::described> next_;
};

class segmenter : public actor<protocol<void(bench::photo)>> {
 public:
  explicit segmenter(std::vector<stage<bench::segmented>> next) : next_(std::move(next)) {}
  void on(bench::photo p) { send(next_.next(), bench::segment(std::move(p))); }

 private:
  several<bench::segmented> next_;
};

struct begin {};

class loader : public actor<protocol<void(begin)>> {
 public:
  loader(shared_gallery g, std::vector<stage<bench::photo>> next)
      : gallery_(std::move(g)), next_(std::move(next)) {}
  void on(begin) {
    for (std::uint32_t i = 0; i < gallery_->queries; ++i) send(next_.next(), bench::load(i));
  }

 private:
  shared_gallery gallery_;
  several<bench::photo> next_;
};

template <class T, class Make>
std::vector<stage<T>> pool(std::size_t n, Make make) {
  std::vector<stage<T>> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(make());
  return all;
}

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto g = std::make_shared<const gallery>(make_gallery(args));
  const std::size_t threads = args.count("threads", 2);

  std::vector<answer> found;
  out.seconds = run_system(args, [&](garrick::actor_system& s) {
    {
      const auto last = s.spawn<collector>(garrick::lent(&found));
      const auto rankers = pool<indexed>(threads, [&] { return s.spawn<ranker>(g, last); });
      const auto indexers = pool<described>(threads, [&] { return s.spawn<indexer>(g, rankers); });
      const auto extractors =
          pool<segmented>(threads, [&] { return s.spawn<extractor>(indexers); });
      const auto segmenters = pool<photo>(threads, [&] { return s.spawn<segmenter>(extractors); });
      send(s.spawn<loader>(g, segmenters), begin{});
    }
    static_cast<void>(s.await_all());
  });
  check_answers(out, *g, std::move(found));
}
