"""Errors in lib/net/wire: readers, writers, codecs, frames, schemas."""

from mutation import mutation

NET = "lib/net/garrick/net/"
READER = NET + "wire/byte_reader.hpp"
LONG = NET + "wire/byte_reader.cpp"
WRITER = NET + "wire/byte_writer.cpp"
CODERS = NET + "wire/detail/coders.hpp"
KNOWN = NET + "wire/known_codecs.cpp"
FRAME = NET + "wire/frame.cpp"
SCHEMA = NET + "wire/schema.cpp"
by_bytes = ("net.bytes",)
by_codec = ("net.codec",)
by_frame = ("net.frame",)
by_schema = ("net.schema",)

MUTATIONS = [
    mutation(
        "byte_reader: a number of 65 bits",
        LONG,
        "if (shift == 63 && byte > 1) {",
        "if (shift == 63 && byte > 3) {",
        by_bytes,
    ),
    mutation(
        "byte_reader: a count is multiplied, and may wrap",
        READER,
        "if (n <= remaining() / least) [[likely]]",
        "if (n * least <= remaining()) [[likely]]",
        by_bytes + by_codec,
    ),
    mutation(
        "byte_reader: an allowance is not used up",
        READER,
        "    memory_ -= count * size;\n",
        "",
        by_bytes + by_codec,
    ),
    mutation(
        "byte_reader: parts side by side count as parts inside each other",
        READER,
        "    ++depth_;\n    at_ = end_;",
        "    at_ = end_;",
        by_bytes + by_codec,
    ),
    mutation(
        "byte_writer: a part with a growing length writes beyond its room",
        WRITER,
        "    if (width > opened.width && room(width - opened.width) == nullptr) return;\n",
        "",
        by_bytes + by_codec,
    ),
    mutation(
        "codec: a map's count is believed by its keys alone",
        CODERS,
        "in.count(least_size<key>() + least_size<mapped>())",
        "in.count(least_size<key>())",
        by_codec,
    ),
    mutation(
        "codec: elements of a set cost no memory",
        CODERS,
        "if (n == 0 || !in.allow(n, element_cost<key>() + node_overhead)) return;",
        "if (n == 0) return;",
        by_codec,
    ),
    mutation(
        "codec: a pointer costs no memory",
        CODERS,
        "if (!in.flag() || !in.allow(1, element_cost<inside>() + node_overhead)) return;",
        "if (!in.flag()) return;",
        by_codec,
    ),
    mutation(
        "codec: elements of a list cost as much as those of a vector",
        CODERS,
        "element_cost<element>() + (is_list ? node_overhead : 0)",
        "sizeof(element)",
        by_codec,
    ),
    mutation(
        "codec: a bucket may have any number of keys",
        CODERS,
        "if (steps <= steps_) [[likely]] {",
        "if (true) {",
        by_codec,
    ),
    mutation(
        "codec: foreign categories are made without end",
        KNOWN,
        " || in.all.size() + 1 >= most_foreign_categories)",
        ")",
        by_codec,
    ),
    mutation(
        "codec: the text of an error costs no memory",
        KNOWN,
        "in.allow(message.size() + detail.size() + name.size() + 1, 1)",
        "in.allow(1, 1)",
        by_codec,
    ),
    mutation(
        "frame: a message that was cut off is plain",
        FRAME,
        "bytes.size() < message_header || bytes[0] != plain",
        "bytes.size() < message_header - 1 || bytes[0] != plain",
        by_frame,
    ),
    mutation(
        "frame: a message with extensions is plain",
        FRAME,
        "|| bytes[0] != plain",
        "|| (bytes[0] & std::byte{0x7f}) != plain",
        by_frame,
    ),
    mutation(
        "frame: the second deadline counts",
        FRAME,
        '  if (f.time_left) in.fail("two deadlines");\n',
        "",
        by_frame,
    ),
    mutation(
        "frame: a deadline beyond the end of time is one in the past",
        FRAME,
        "std::min(in.varint(), most)",
        "std::max(in.varint(), most & 0)",
        by_frame,
    ),
    mutation(
        "frame: an extension that must be understood is skipped",
        FRAME,
        "else if ((key & must_understand) != 0 && not_understood == 0)",
        "else if (false)",
        by_frame,
    ),
    mutation(
        "frame: a time that is over is sent as one without end",
        FRAME,
        "std::max<std::int64_t>(f.time_left->count(), 0)",
        "f.time_left->count()",
        by_frame,
    ),
    mutation(
        "schema: a part that does not exist",
        SCHEMA,
        "if (!std::ranges::all_of(t.parts, exists))",
        "if (false)",
        by_schema,
    ),
    mutation(
        "schema: a kind that does not exist",
        SCHEMA,
        "if (t.what > schema_kind::variant)",
        "if (false)",
        by_schema,
    ),
    mutation(
        "schema: an answer's type that does not exist",
        SCHEMA,
        "if (!exists(m.message) || !std::ranges::all_of(m.answer, exists))",
        "if (!exists(m.message))",
        by_schema,
    ),
    mutation(
        "schema: a map has any number of parts",
        SCHEMA,
        "case schema_kind::map: return t.parts.size() == 2;",
        "case schema_kind::map: return true;",
        by_schema,
    ),
    mutation(
        "schema: a type that grows in an array's extent is the same",
        SCHEMA,
        " || x.extent != y.extent) return false;",
        ") return false;",
        by_schema,
    ),
]
