#!/usr/bin/env python3
"""from_outside.py CASE PROGRAM [ARG...]: drives an example server by its users' usual tools:
`echo`, `key_value`, `chat` and `slow_reader` by nc, `http_curl` by curl, `http_wrk` by wrk;
`two_terminals` and `chat_over_nodes` by the example itself, as the guide does it. PROGRAM, with
its launcher, gets an address to listen at and serves until a line comes.

Without the tool it says `skipped:`. Exit status 1: an answer is wrong; it is printed.
"""

import os
import re
import resource
import select
import shutil
import subprocess
import sys

PATIENCE = 60  # seconds, for steps that take none


class server:
    """The program, while the block lasts; ended by a line."""

    def __init__(self, program, words):
        self.program = program
        self.command = [*program, *words, "tcp://127.0.0.1:0"]

    def __enter__(self):
        # Freed memory that AddressSanitizer keeps would count as grown.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        self.process = subprocess.Popen(
            self.command,
            env={**os.environ, "ASAN_OPTIONS": asan.lstrip(":")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = self.process.stdout.readline()
        found = re.fullmatch(
            r"(?:serving|a room) at tcp://127\.0\.0\.1:(\d+) until a line comes\n", said
        )
        if found is None:
            self.process.kill()
            sys.exit(f"the server says '{said}'")
        self.said = said
        self.port = found[1]
        self.at = "tcp://127.0.0.1:" + self.port
        return self

    def resident_kilobytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * resource.getpagesize() // 1024

    def __exit__(self, *_):
        self.process.communicate("\n", timeout=PATIENCE)
        if self.process.returncode != 0:
            sys.exit(f"the server ended with {self.process.returncode}")


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: '{got}', expected '{wanted}'")


def nc(port, text):
    """The answer to a text, after which nc says that it sends no more."""
    done = subprocess.run(["nc", "-N", "127.0.0.1", port], input=text, capture_output=True,
                          text=True, timeout=PATIENCE)
    return done.stdout


def echo(s):
    """Both terminals of guide 21, at another port; and beside them a client with much to say."""
    [(words, seen)] = terminals("21-raw-sockets.md", "61_echo_broker").values()
    there = words[0]
    expect("the server's words", [*s.program, *words], [*s.command[:-1], there])
    expect("the server", s.said, seen.replace(there, s.at))
    [(words, seen)] = terminals("21-raw-sockets.md", "nc").values()
    expect("where the guide's nc goes", "tcp://" + ":".join(words), there)
    first = subprocess.Popen(["nc", words[0], s.port], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, bufsize=1)
    expect("what nc shows before a line is typed", seen, "")
    for line in ("hello\n", "what you say is what you hear\n"):
        first.stdin.write(line)
        expect("a line", first.stdout.readline(), line)
    many = "".join(f"line {i}\n" for i in range(20000))
    expect("another client, to the end", nc(s.port, many), many)
    first.stdin.write("still here\n")
    expect("a line", first.stdout.readline(), "still here\n")
    first.kill()
    rest, _ = first.communicate(timeout=PATIENCE)
    expect("after the last", rest, "")


def key_value(port):
    expect("commands", nc(port, "set a one two\nget a\n" + 600 * "x" + "\nget b\nget a\nge"),
           "ok\n= one two\nerror: a line has at most 512 bytes\nerror: no such key\n"
           "= one two\nerror: the last line has no end\n")
    expect("another client", nc(port, "get a\r\nquit\nget a\n"), "= one two\nbye\n")
    many = 20000  # some hundred kilobytes of answers for a client that sends before it reads
    expect("many questions", nc(port, many * "get a\n"), many * "= one two\n")


def chat(port):
    def enter(name):
        who = subprocess.Popen(["nc", "127.0.0.1", port], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)
        expect("greeting", who.stdout.readline(), "* what is your name?\n")
        who.stdin.write(name + "\n")
        return who

    ann = enter("ann")
    expect("ann", ann.stdout.readline(), "* here: ann\n")
    bob = enter("bob")
    expect("bob", bob.stdout.readline(), "* here: ann bob\n")
    expect("ann", ann.stdout.readline(), "* bob is here\n")
    bob.stdin.write("hello\n")
    expect("ann", ann.stdout.readline(), "bob: hello\n")
    bob.kill()  # without a word
    bob.wait(PATIENCE)
    expect("ann", ann.stdout.readline(), "* bob has gone\n")
    rest, _ = ann.communicate("/quit\n", timeout=PATIENCE)
    expect("ann", rest, "* bye\n")


def slow_reader(port, s):
    """An nc that is stopped reads nothing; another one gives it questions all the while."""
    # A long key: the system holds megabytes of questions, which all have to be answered at the end.
    key, text = 64 * "a", 290 * "x"
    question, answer = f"get {key}\n", f"= {text}\n"
    expect("a text", nc(port, f"set {key} {text}\n"), "ok\n")
    stopped = subprocess.Popen(["nc", "-N", "127.0.0.1", port], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    asked = asked_by(stopped, question, 1000)
    expect("the first answers", [stopped.stdout.readline() for _ in range(1000)], 1000 * [answer])
    before = s.resident_kilobytes()
    # The output of nc is not read, so it stops reading, and then the server does.
    while True:
        more = asked_by(stopped, question, 10000)
        asked += more
        if more < 10000:
            break
        if asked > 1_000_000:  # the system holds some hundred thousand
            sys.exit("the server reads on, although nobody takes its answers")
    grown = s.resident_kilobytes() - before
    expect(f"grows by {grown} kB", grown < 16384, True)
    expect("another client", nc(port, "count\n"), "= 1\n")
    # From now on it reads, and all that was asked is answered.
    os.set_blocking(stopped.stdin.fileno(), True)
    stopped.stdin.close()
    answered = 1000 + sum(1 for line in stopped.stdout if line == answer)
    expect("answers", answered, asked)
    stopped.wait(PATIENCE)


def asked_by(who, question, most):
    """Returns the number of questions that it takes before it takes no more for a second."""
    question = question.encode()
    file = who.stdin.fileno()
    os.set_blocking(file, False)
    left = memoryview(most * question)
    while left:
        _, writable, _ = select.select([], [file], [], 1)
        # A question is written whole or not at all, as pipes do with few bytes.
        if not writable:
            break
        try:
            left = left[os.write(file, left[: len(question)]):]
        except BlockingIOError:
            break
    return most - len(left) // len(question)


def http_curl(port):
    def curl(*arguments):
        done = subprocess.run(["curl", "--silent", "--max-time", str(PATIENCE), *arguments],
                              capture_output=True, text=True)
        expect("curl's status", done.returncode, 0)
        return done.stdout

    at = f"http://127.0.0.1:{port}/"
    told = ("--write-out", "%{http_code} %{num_connects}\n")
    # two on one connection
    expect("a page", curl(*told, at, at), "Hello, world\n200 1\nHello, world\n200 0\n")
    status = ("--output", "/dev/null", "--write-out", "%{http_code}")
    expect("another page", curl(*status, at + "other"), "404")
    expect("only the head", curl("--head", *status, at), "200")
    expect("a body", curl(*status, "--data", "x=1", at), "413")
    expect("another method", curl(*status, "--request", "DELETE", at), "405")
    expect("a long head", curl(*status, "--header", "X-Long: " + 9000 * "x", at), "431")
    expect("an old client", curl("--http1.0", *status, at), "200")


def http_wrk(port):
    done = subprocess.run(["wrk", "-t1", "-c8", "-d1s", f"http://127.0.0.1:{port}/"],
                          capture_output=True, text=True, timeout=PATIENCE)
    expect("wrk's status", done.returncode, 0)
    requests = re.search(r"(\d+) requests in", done.stdout)
    if requests is None or int(requests[1]) == 0:
        sys.exit(f"wrk got no answers: {done.stdout}")
    for trouble in ("Socket errors", "Non-2xx"):
        if trouble in done.stdout:
            sys.exit(f"wrk: {done.stdout}")


def terminals(chapter, program):
    """The words after a program's name in the guide's examples, and their output."""
    guide = os.path.join(os.path.dirname(__file__), "../../../docs/guide", chapter)
    with open(guide, encoding="utf-8") as f:
        blocks = re.findall(r"```\n\$ (?:\S*/)?" + program + r" (.*)\n((?:.*\n)*?)```\n", f.read())
    return {typed.split()[0]: (typed.split(), seen) for typed, seen in blocks}


def two_terminals(s):
    """Both of guide 20, at another port."""
    shown = terminals("20-two-machines.md", "59_remote_calculator")
    expect("the guide's terminals", sorted(shown), ["ask", "serve"])
    (word, there), seen = shown["serve"]
    expect("the first one's words", [*s.program, word], s.command[:-1])
    expect("the first one", s.said, seen.replace(there, s.at))
    for _ in range(2):  # it serves on
        words, seen = shown["ask"]
        done = subprocess.run([*s.program, *(w.replace(there, s.at) for w in words)],
                              capture_output=True, text=True, timeout=PATIENCE)
        expect("the second one", done.stdout, seen)
        expect("the second one's status", done.returncode, 0)


def chat_over_nodes(s):
    def enter(name):
        return subprocess.Popen([*s.program, "join", s.at, name], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, bufsize=1)

    ann = enter("ann")
    expect("ann", ann.stdout.readline(), "ann is here\n")
    bob = enter("bob")
    expect("bob", bob.stdout.readline(), "bob is here\n")
    expect("ann", ann.stdout.readline(), "bob is here\n")
    bob.stdin.write("hello\n")
    for who, name in (ann, "ann"), (bob, "bob"):
        expect(name, who.stdout.readline(), "bob: hello\n")
    rest, _ = bob.communicate(timeout=PATIENCE)
    expect("bob", (rest, bob.returncode), ("", 0))
    expect("ann", ann.stdout.readline(), "bob has gone\n")
    second = subprocess.run([*s.program, "join", s.at, "ann"], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=PATIENCE)
    expect("another ann", (second.returncode, "ann is here already" in second.stdout), (1, True))
    rest, _ = ann.communicate(timeout=PATIENCE)
    expect("ann", (rest, ann.returncode), ("", 0))


# The tool, the words for the program before the address, and the driving function.
CASES = {
    "echo": ("nc", (), echo),
    "key_value": ("nc", (), lambda s: key_value(s.port)),
    "chat": ("nc", (), lambda s: chat(s.port)),
    "slow_reader": ("nc", (), lambda s: slow_reader(s.port, s)),
    "http_curl": ("curl", (), lambda s: http_curl(s.port)),
    "http_wrk": ("wrk", (), lambda s: http_wrk(s.port)),
    "two_terminals": (None, ("serve",), two_terminals),
    "chat_over_nodes": (None, ("room",), chat_over_nodes),
}


def main() -> int:
    tool, words, drive = CASES[sys.argv[1]]
    if tool is not None and shutil.which(tool) is None:
        print(f"skipped: there is no {tool}")
        return 0
    with server(sys.argv[2:], words) as s:
        drive(s)
    print("all answers as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
