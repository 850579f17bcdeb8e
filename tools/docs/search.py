"""The site's search: the words that lead to a page, and questions that it has to answer.

The theme's lunr.js makes its index in the browser, of the titles, texts and tags in
search_index.json. `engine` does the same with lunr.py, a part of MkDocs, and sorts the results as
the theme's worker does, so a question has the same answer here. A tag counts more than a title, a
title more than the text. A page has tags from `<!-- search: words -->`.
"""

import json
import re
from pathlib import Path

REMARK = re.compile(r"^<!-- search: (.*) -->$", re.M)

# Changes of a question before lunr reads it, in this order: pattern, text. Both Python and
# JavaScript (theme/main.html) read them. Of a name, such as a_b or a::b, each word is required.
RULES = [
    (r"\b[(<].*", " "),  # arguments: send(x), ref<P>
    (r"\b(?:::|->|[.-])\b", "_"),
    (r"[^\w\s]+", " "),
    (r"\b_+|_+\b", ""),
    (r"(?:^|\s)(?:how|what|why|when|where|do|does|is|are|can|i|my|an?|the|to|of)(?=\s)", " "),
    (r"\b(?=\w+_)", "+"),
    (r"_+", " +"),
    (r"\s+", " "),
]
FIRST = 3  # results among which an expected page has to be

# Users' questions, and the page that answers each.
QUESTIONS = {
    "actor_system": "api/system/actor_system",
    "send_after": "api/core/actor",
    "garrick::ref": "api/core/ref",
    "garrick::ref<counter>": "api/core/ref",
    "spawn_options": "api/core/spawn_options",
    "set_receive_timeout()": "api/core/actor",
    "actor_system::spawn": "api/system/actor_system",
    "node_settings": "api/net/node/node_settings",
    "timeout": "docs/guide/08-time",
    "exception": "docs/guide/07-failure-and-supervision",
    "how to stop an actor": "docs/guide/14-shutdown-and-diagnosis",
    "backpressure": "docs/guide/10-mailboxes-and-overload",
    "logging": "docs/guide/14-shutdown-and-diagnosis",
    "performance": "docs/guide/11-scheduling",
    "restart a child": "docs/guide/07-failure-and-supervision",
    "deadlock": "docs/guide/14-shutdown-and-diagnosis",
    "unit test": "docs/guide/13-testing",
    "coroutine": "docs/guide/06-coroutines",
    "blocking call": "docs/guide/09-blocking-and-detached",
    "environment variable": "docs/guide/12-settings",
    "send a pointer": "docs/guide/04-messages-and-isolation",
    "remote actor": "docs/guide/20-two-machines",
    "tcp socket": "docs/guide/21-raw-sockets",
    "pipeline": "docs/guide/17-from-one-slow-actor-to-a-pattern",
    "late tuples": "docs/guide/17-windows-and-joins",
    "session window": "docs/guide/17-windows-and-joins",
    "delivery guarantees": "docs/guide/19-choosing-guarantees",
    "GPU": "docs/guide/22-gpu",
}


def tags(text: str) -> list[str]:
    """The tags that a page of Markdown names."""
    return [word for words in REMARK.findall(text) for word in words.split()]


def prepare(site: Path, tagged: dict[str, list[str]]) -> None:
    """Leaves the pages that show a source out of the index, and adds the tags, by location."""
    file = site / "search" / "search_index.json"
    index = json.loads(file.read_text(encoding="utf-8"))
    index["docs"] = [d for d in index["docs"] if not d["location"].startswith("source/")]
    for entry in index["docs"]:
        if found := tagged.get(entry["location"]):
            entry["tags"] = found
    file.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")


def transform(query: str) -> str:
    """The question as theme/main.html changes it before the theme sees it."""
    for pattern, text in RULES:
        query = re.sub(pattern, text, query, flags=re.A | re.I)
    return query.strip()


class engine:
    """Answers as the theme's worker does (search/_/index.ts of Material for MkDocs 8.2)."""

    def __init__(self, index: dict):
        from lunr.builder import Builder
        from lunr.trimmer import trimmer

        separator = re.compile(index["config"]["separator"], re.A)
        builder = Builder()
        builder.ref("location")
        builder.field("title", boost=1e3)
        builder.field("text")
        builder.field("tags", boost=1e6)
        builder.pipeline.add(trimmer)  # theme/partials/language.html: and no stop words
        builder.search_pipeline.add(trimmer)
        self.pages: dict[str, str] = {}  # location: its page
        seen = set()
        for entry in index["docs"]:
            location = entry["location"]
            page, _, section = location.partition("#")
            if not section or page in seen:
                self.pages[location] = page
            else:
                seen.add(page)  # the theme shows the first section as its page
            words = {k: [w for w in separator.split(entry[k]) if w] for k in ("title", "text")}
            builder.add({"location": location, "tags": entry.get("tags", []), **words})
        self.index = builder.build()

    def missing(self, query: str, found: set[str]) -> bool:
        """Whether a word of the query is not in a result."""
        from lunr.stop_word_filter import WORDS

        words = {word.lstrip("+").lower() for word in query.split()} - WORDS
        return any(not any(term.startswith(word) for term in found) for word in words)

    def ask(self, query: str) -> list[str]:
        """The pages that answer a transformed question, the best first."""
        scores = []
        for result in self.index.search(f"{query}*"):
            location = result["ref"]
            if location in self.pages:
                found = set(result["match_data"].metadata)
                boost = ("#" not in location) + (not self.missing(query, found))
                scores.append((result["score"] * (1 + boost), location))
        scores.sort(key=lambda pair: -pair[0])
        return list(dict.fromkeys(self.pages[location] for _, location in scores))


def check(site: Path, questions: dict[str, str] | None = None) -> list[str]:
    """The questions whose page is not among the first results."""
    file = site / "search" / "search_index.json"
    asked = engine(json.loads(file.read_text(encoding="utf-8")))
    problems = []
    for question, page in (QUESTIONS if questions is None else questions).items():
        first = asked.ask(transform(question))[:FIRST]
        if f"{page}.html" not in first:
            shown = ", ".join(first) or "nothing"
            problems.append(f"search: '{question}' finds {shown} before {page}.html")
    return problems
