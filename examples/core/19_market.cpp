// Composed actors: a pipe of two, a request to many, the first answer of many, and routers that
// spread work or state over many actors.
#include <garrick/garrick.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct offer {
  std::string item;
  int cents;
};
struct price_of {
  std::string item;
};
struct count_items {};

using stall =
    garrick::protocol<void(offer), garrick::result<int>(price_of), std::size_t(count_items)>;

class stall_actor : public garrick::actor<stall> {
 public:
  void on(offer o) { prices_[std::move(o.item)] = o.cents; }
  garrick::result<int> on(const price_of& p) {
    const auto at = prices_.find(p.item);
    if (at == prices_.end())
      return garrick::make_error(garrick::errc::user, std::string(name()), "has no " + p.item);
    return at->second;
  }
  std::size_t on(count_items) const { return prices_.size(); }

 private:
  std::map<std::string, int> prices_;
};

// [printer]
using printer = garrick::protocol<std::string(int)>;

class label_printer : public garrick::actor<printer> {
 public:
  std::string on(int cents) {
    char text[32];
    std::snprintf(text, sizeof text, "%d.%02d EUR", cents / 100, cents % 100);
    return text;
  }
};
// [/printer]

int main() {
  garrick::actor_system system;
  const auto anna = system.spawn<stall_actor>(garrick::spawn_options{.name = "Anna"});
  const auto ben = system.spawn<stall_actor>(garrick::spawn_options{.name = "Ben"});
  const auto cleo = system.spawn<stall_actor>(garrick::spawn_options{.name = "Cleo"});
  send(anna, offer{"pears", 250});
  send(ben, offer{"pears", 220});
  send(cleo, offer{"quinces", 410});

  // [pipe]
  const auto print = system.spawn<label_printer>();
  // a handle: gets the price from Ben, then its label from the printer, and answers with the label
  const auto labels = print * ben;
  std::printf("Ben's pears: %s\n", system.request(labels, price_of{"pears"}).get().value().c_str());
  // [/pipe]
  std::printf("Ben's plums: %s\n",
              system.request(labels, price_of{"plums"}).get().error().to_string().c_str());

  // [all]
  const std::vector<garrick::ref<stall>> market{anna, ben, cleo};
  const auto pears = fan_out(system, market, price_of{"pears"}).get();
  for (std::size_t i = 0; i < market.size(); ++i) {
    const garrick::result<int>& price = (*pears)[i];
    std::printf("pears at stall %zu: %s\n", i + 1,
                price ? std::to_string(*price).c_str() : price.error().to_string().c_str());
  }
  // [/all]

  // [first]
  const auto quinces = first_of(system, market, price_of{"quinces"}).get();
  std::printf("quinces: %d\n", quinces.value());
  // [/first]

  // [by_key]
  // One large stock, kept by four actors: all messages with one name go to the same actor.
  std::vector<garrick::ref<stall>> shelves;
  for (int i = 0; i < 4; ++i) shelves.push_back(system.spawn<stall_actor>());
  const auto stock = route_by_key(shelves, &offer::item, &price_of::item);
  for (const char* item : {"apples", "beans", "carrots", "dill", "endives"})
    send(stock, offer{item, 100});
  std::printf("dill: %d\n", system.request(stock, price_of{"dill"}).get().value());
  // [/by_key]

  // [broadcast]
  const garrick::router<stall, garrick::broadcast> all_shelves(shelves);
  const auto counts = system.request(all_shelves, count_items{}).get();
  std::size_t items = 0;
  for (const auto& n : *counts) items += n.value();
  std::printf("items in stock: %zu\n", items);
  // [/broadcast]

  // [changing]
  // Stalls open and close while customers ask.
  const garrick::changing_router<stall> open_stalls(system);
  open_stalls.add(anna);
  open_stalls.add(ben);
  open_stalls.remove(anna);
  std::printf("pears at the open stall: %d\n",
              system.request(open_stalls, price_of{"pears"}).get().value());
  open_stalls.remove(ben);
  std::printf("no stall is open: %s\n",
              system.request(open_stalls, price_of{"pears"}).get().error().message().c_str());
  // [/changing]
}
