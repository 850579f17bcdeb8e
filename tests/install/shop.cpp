#include "shop.hpp"

GARRICK_PROTOCOL_TABLE_HERE(shop::counter_type);
