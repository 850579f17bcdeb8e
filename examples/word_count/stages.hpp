// The stages of the stream that counts. The first one puts out units of a plan. The next ones read
// them, split them into words, and count the words of each part. The last one sends the counts of a
// few units to the ledger of that part.
//
// No stage holds data that could not be read and counted again. A struck stage goes on without the
// tuple, and a counter also drops the counts that it has not handed on; a struck source ends the
// stream. In each case the foreman's audit finds the units that the ledgers lack.
//
// Thread safety: each object belongs to its node.
#pragma once

#include "chaos.hpp"
#include "protocols.hpp"

#include <garrick/patterns/patterns.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace word_count {

/// A unit, and the parts that do not hold it.
struct open_unit {
  std::uint32_t unit = 0;
  part_mask parts = 0;
};
/// The words of a unit that belong to one part, each followed by a blank.
struct part_words {
  std::uint32_t part = 0;
  std::uint32_t unit = 0;
  std::uint32_t file = 0;
  std::string words;
};

/// For a stage's `on_restart`: returns if the exception that is being handled is a strike, so that
/// the stage goes on. Rethrows any other exception, which ends the stream.
void only_after_a_strike();

class unit_source {
 public:
  unit_source(std::vector<open_unit> open, chaos* fate) : open_(std::move(open)), chaos_(fate) {}
  bool consume(garrick::patterns::emit<open_unit> out);

 private:
  // A strike at the source ends the whole stream, so strikes are rarer here.
  static constexpr std::size_t units_a_strike = 16;

  std::vector<open_unit> open_;
  std::size_t next_ = 0;
  chaos* chaos_;
};

/// Reads a unit, removes its markup, and splits the rest into words.
class splitter {
 public:
  splitter(shared_plan what, std::uint32_t parts, garrick::ref<foreman_protocol> foreman,
           chaos* fate)
      : plan_(std::move(what)), parts_(parts), foreman_(std::move(foreman)), chaos_(fate) {}
  void consume(open_unit u, garrick::patterns::emit<part_words> out);
  void on_restart() { only_after_a_strike(); }

 private:
  shared_plan plan_;
  std::uint32_t parts_;
  garrick::ref<foreman_protocol> foreman_;
  chaos* chaos_;
};

// [counter]
/// Counts the words of some parts, and hands on the counts of a part after every few of its units.
class counter {
 public:
  static constexpr std::size_t units_a_batch = 8;

  counter(std::uint64_t plan, chaos* fate) : plan_(plan), chaos_(fate) {}
  void consume(const part_words& w, garrick::patterns::emit<batch> out);
  void on_stop(garrick::patterns::emit<batch> out);
  void on_restart() {
    only_after_a_strike();
    batches_.clear();  // any batch may be half counted
  }

 private:
  std::uint64_t plan_;
  std::map<std::uint32_t, batch> batches_;  ///< by part
  chaos* chaos_;
};
// [/counter]

/// Hands each batch to the ledger of its part.
class committer {
 public:
  explicit committer(std::vector<garrick::ref<ledger_protocol>> ledgers)
      : ledgers_(std::move(ledgers)) {}
  void consume(batch b) { send(ledgers_[b.part], std::move(b)); }

 private:
  std::vector<garrick::ref<ledger_protocol>> ledgers_;
};

}  // namespace word_count
