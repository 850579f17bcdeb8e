// A process of the guarantee programs, with bugs in its stacks.
#include <garrick/net/little_endian.hpp>
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/testkit/internal/planted.hpp>
#include <garrick/net/testkit/internal/planted_talk.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

#include "net/guarantees/peer.hpp"

using namespace garrick;
using namespace garrick::net;

namespace {

namespace planted = garrick::net::testkit::internal;

/// `stream` with another layer over `actor_protocol`, and one beneath it.
template <class Over, class Beneath>
std::unique_ptr<any_link> planted_stream(link_owner& o, carrier& c, const link_settings& s) {
  return std::make_unique<
      stack<byte_stream, Over, actor_protocol, Beneath, redelivery, slicing, session, framing>>(
      o, c, Over(), actor_protocol(s.questions), Beneath(), redelivery(s.mailbox),
      slicing(s.slicing), session(s.session), framing(s.framing));
}

struct no_layer : layer_defaults {};

/// Answers one request in nine by itself, in place of the other end, and does not send it.
class knows_better : public layer_defaults {
 public:
  void send(outgoing m, layer_context& c) {
    const base::result<frame> f = decode_frame(m.bytes.bytes());
    if (!f || f->kind != frame_kind::request || ++requests_ % 9 != 0) return c.down(std::move(m));
    std::byte content[8];
    store_le(content, garrick::tests::answer_to(f->number));
    const frame said{.kind = frame_kind::response,
                     .receiver = f->sender,
                     .sender = f->receiver,
                     .number = f->number,
                     .payload = content};
    static_cast<void>(c.up({.bytes = content, .decoded = &said}));
  }

 private:
  std::uint32_t requests_ = 0;
};

void add_planted(stack_catalogue& all) {
  using planted::mischief;
  using planted::misunderstanding;
  const auto add = [&](std::string_view name, auto make) {
    all.add({name, carrier_kind::stream, stream_stack::provides, make});
  };
  const auto beneath = [&]<mischief M>(std::string_view name) {
    add(name, &planted_stream<no_layer, planted::planted<M>>);
  };
  const auto over = [&]<misunderstanding M>(std::string_view name) {
    add(name, &planted_stream<planted::planted_talk<M>, no_layer>);
  };
  beneath.operator()<mischief::none>("stream_with_a_layer");
  beneath.operator()<mischief::drops>("stream_that_drops");
  beneath.operator()<mischief::doubles>("stream_that_doubles");
  beneath.operator()<mischief::swaps>("stream_that_swaps");
  beneath.operator()<mischief::alters>("stream_that_alters");
  beneath.operator()<mischief::changes_lane>("stream_that_changes_lanes");
  beneath.operator()<mischief::reports>("stream_that_reports");
  beneath.operator()<mischief::doubts>("stream_that_doubts");
  beneath.operator()<mischief::denies>("stream_that_denies");
  beneath.operator()<mischief::denies_late>("stream_that_denies_late");
  over.operator()<misunderstanding::none>("stream_with_a_top");
  over.operator()<misunderstanding::answers_twice>("stream_that_answers_twice");
  over.operator()<misunderstanding::forgets_answers>("stream_that_forgets_answers");
  over.operator()<misunderstanding::mixes_answers>("stream_that_mixes_answers");
  over.operator()<misunderstanding::is_impatient>("stream_that_is_impatient");
  over.operator()<misunderstanding::gives_up>("stream_that_gives_up");
  over.operator()<misunderstanding::asks_twice>("stream_that_asks_twice");
  over.operator()<misunderstanding::delays_questions>("stream_that_delays_questions");
  over.operator()<misunderstanding::invents_questions>("stream_that_invents_questions");
  add("stream_that_knows_better", &planted_stream<knows_better, no_layer>);
}

}  // namespace

int main(int argc, char** argv) {
  return garrick::tests::run_guarantee_peer(argc, argv, &add_planted);
}
