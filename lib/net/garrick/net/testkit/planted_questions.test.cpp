// The program of questions finds bugs: each bug that is planted over `actor_protocol`, or in its
// place, is found within 200 seeds, and fails again in the same way.
#include <doctest/doctest.h>

#include <string>

#include "garrick/net/testkit/dialogue.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/finds.hpp"
#include "garrick/net/testkit/internal/planted.hpp"
#include "garrick/net/testkit/internal/planted_links.hpp"
#include "garrick/net/testkit/internal/planted_talk.hpp"
#include "garrick/net/testkit/internal/standard_kinds.hpp"

namespace planted_questions_test {

using garrick::base::duration;
using namespace garrick::net;
using namespace garrick::net::testkit;
using namespace garrick::net::testkit::internal;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

dialogue_settings rough_settings() {
  return {.path = {.delay = ms(5),
                   .jitter = ms(5),
                   .loss = 0.1,
                   .duplication = 0.05,
                   .reordering = 0.3,
                   .late_by = ms(400)},
          .faults = {.cuts = 1, .resets = 2, .pauses = 1, .crashes = 1, .from = ms(200)},
          .settles = ms(35'000)};
}
dialogue_settings quiet_settings() {
  return {.path = {.delay = ms(5), .jitter = ms(2)}, .settles = ms(35'000)};
}

void finds(const stack_kind& kind, const std::string& text,
           const dialogue_settings& s = quiet_settings()) {
  finds_bug(kind.name, [&](simulated_network& net) { dialogue(net, kind, s); }, text);
}
template <misunderstanding M>
stack_kind datagrams_with() {
  return talking_datagram_kind<planted_talk<M>, actor_protocol>(
      "misunderstanding " + std::to_string(static_cast<int>(M)));
}

}  // namespace

TEST_CASE("planted over actor_protocol: a question that is answered wrongly is found") {
  using enum misunderstanding;
  finds(datagrams_with<answers_twice>(), "was answered twice");
  finds(datagrams_with<forgets_answers>(), "was never answered");
  finds(datagrams_with<mixes_answers>(), "got the answer to something else");
  finds(datagrams_with<mixes_refusals>(), "got the refusal of something else");
  finds(datagrams_with<answers_itself>(), "got an answer that was not given");
  finds(datagrams_with<refuses_itself>(), "got a refusal that was not given");
  finds(datagrams_with<is_impatient>(), "was over before its time");
  finds(datagrams_with<gives_up>(), "was given up, and the link lives");
  finds(datagrams_with<lets_others_end>(), "was ended by the other end");
  finds(datagrams_with<keeps_cancels>(), "was answered after it was taken back");
}

TEST_CASE("planted over actor_protocol: a question that comes wrongly is found") {
  using enum misunderstanding;
  finds(datagrams_with<asks_twice>(), "came twice");
  finds(talking_stream_kind<planted_talk<delays_questions>, actor_protocol>("delays"),
        "came after a later one");
  finds(datagrams_with<asks_others>(), "came to another actor");
  finds(datagrams_with<invents_questions>(), "a question came that was not asked");
  finds(datagrams_with<invents_kinds>(), "a frame of an unexpected kind came");
  finds(talking_plain_stream_kind<actor_protocol, planted<mischief::swaps>>("swaps"),
        "came after a later one");
  finds(talking_ordered_datagram_kind<careless_detection, actor_protocol>("careless"),
        "came to a link that talks to another one", rough_settings());
}

TEST_CASE("planted over actor_protocol: a frame that no end understands, and a wrong complaint") {
  using enum misunderstanding;
  finds(datagrams_with<complains_twice>(), "was told of a frame that it has not sent");
  finds(datagrams_with<complains_otherwise>(), "is reported as something else");
  finds(datagrams_with<keeps_complaints>(), "was not told that something was no frame");
}

TEST_CASE("planted in the place of actor_protocol: a layer that knows of no question is found") {
  const stack_kind ignorant = talking_datagram_kind<ignorant_protocol>("ignorant");
  finds(ignorant, "was answered twice");
  finds(ignorant, "which has not asked");
  finds(ignorant, "got the answer to something else");
  finds(ignorant, "was answered after it was taken back");
  finds(ignorant, "has no answer, and the link is down", rough_settings());
}

TEST_CASE("planted beside a talking stack: a link's false report to its owner is found") {
  const stack_kind right = talking_datagram_kind<actor_protocol>("datagrams");
  finds(with_falsehood<falsehood::refuses>(right), "a link that was writable refuses");
  finds(with_falsehood<falsehood::is_full>(right), "a link that was writable is full");
  finds(with_falsehood<falsehood::speaks_after_down>(right),
        "a message came after the link went down", rough_settings());
  finds(with_falsehood<falsehood::hears_after_down>(right), "heard something after `down`",
        rough_settings());
}

TEST_CASE("without a planted bug the same questions find nothing") {
  for (const stack_kind& k :
       {datagrams_with<misunderstanding::none>(),
        talking_plain_stream_kind<actor_protocol, planted<mischief::none>>("plain_stream")}) {
    CAPTURE(k.name);
    for (const dialogue_settings& s : {quiet_settings(), rough_settings()}) {
      const auto found = find_network_failure(seeds() / 2 + 1,
                                              [&](simulated_network& net) { dialogue(net, k, s); });
      CHECK_MESSAGE(!found.has_value(), found->text);
    }
  }
}

}  // namespace planted_questions_test
