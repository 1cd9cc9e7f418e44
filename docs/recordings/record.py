#!/usr/bin/env python3
"""Records the console as asciicast v2, which `asciinema play` shows: docs/recordings/record.py PROGRAM [NAME...]

Drives the real program in a terminal of 100x30. A key is sent only after the words that call for it are on the way to the screen, so a
recording that doesn't reach its end fails. The workspace is /tmp/shop, which must not exist and is deleted afterwards; runs are kept
beside it and deleted too.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

WIDTH, HEIGHT = 100, 30
SHOP = "/tmp/shop"
LONGEST_WAIT = 30.0
# Longer silences are shown as this long.
LONGEST_SILENCE = 2.0
ESCAPES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")

REQUEST = "List the Rust files under src, count their lines, and write the ten longest to longest.md"
STEPS = {
    "dagdeck": 1,
    "goal": "Work out the price of an order",
    "nodes": [
        {"id": "items", "title": "Read the items", "code": "return {tea: 3, milk: 2};"},
        {"id": "sum", "title": "Add them up", "code": "return deps.items.output.tea - deps.items.output.milk;", "depends_on": ["items"]},
        {"id": "tax", "title": "Add the tax", "code": "return deps.sum.output * 1.2;", "depends_on": ["sum"]},
    ],
}
GATED = {
    "dagdeck": 1,
    "goal": "Write the price list",
    "nodes": [
        {"id": "prices", "title": "Work out the prices", "code": "return 'tea 3, milk 2';"},
        {
            "id": "write",
            "title": "Write prices.txt",
            "tool": "write_file",
            "args": {"path": "prices.txt", "content": "{{prices}}"},
            "depends_on": ["prices"],
            "approve": "before",
        },
    ],
}

# What to wait for, without spaces since the screen is drawn by its changes; then seconds to look at it, and the keys to press.
RECORDINGS = {
    "plan-run-gate-answer": (
        [],
        [("want", 1.0, REQUEST), ("", 0.5, "\r"), ("findings|plan,|valid|read", 2.0, "r"), ("needs", 1.5, "."), ("active", 2.5, "a"), ("succeeded", 3.0, "q")],
    ),
    "step-edit-go-on": (
        [STEPS],
        [
            ("Read", 1.5, "s"),
            ("paused", 1.5, "s"),
            ("tea", 2.0, "s"),
            ("1", 2.5, "e"),
            ("milk", 1.5, "\x1b[F" + "\x7f" * 25 + "+ deps.items.output.milk;"),
            ("", 1.0, "\x13"),
            ("reason", 2.5, "y"),
            ("undo", 2.0, "p"),
            ("succeeded", 3.0, "q"),
        ],
    ),
    "crash-and-resume": (
        [GATED],
        [
            ("Work", 1.5, "r"),
            ("needs", 2.0, None),
            ("process|resume", 2.5, "!"),
            ("Resume", 2.0, "y"),
            ("inbox|pause", 1.5, "."),
            ("active", 2.0, "a"),
            ("succeeded", 3.0, "q"),
        ],
    ),
}


class Recording:
    def __init__(self, program, home):
        self.program, self.home = program, home
        self.events, self.shown_at, self.last = [], 0.0, None
        self.seen = b""

    def open(self, args):
        """Starts the program on a terminal of its own."""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
            os.chdir(SHOP)
            os.execve(self.program, [self.program, *args], {**kept, "TERM": "xterm-256color", "DAGDECK_HOME": self.home, "HOME": "/tmp"})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))

    def read(self, seconds):
        """Takes what is drawn within so many seconds. Says whether the program is still there."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            now = time.monotonic()
            self.shown_at += min(now - (self.last or now), LONGEST_SILENCE)
            self.last = now
            self.events.append([round(self.shown_at, 3), "o", data.decode("utf-8", "replace")])
            self.seen += ESCAPES.sub(b"", data)
        return True

    def wait(self, words):
        end = time.monotonic() + LONGEST_WAIT
        wanted = re.compile(words.encode())
        while not wanted.search(self.seen):
            if not self.read(0.2) or time.monotonic() > end:
                sys.exit(f"never seen: {words}\n{self.seen[-2000:].decode('utf-8', 'replace')}")

    def press(self, keys):
        self.seen = b""
        for key in re.findall(r"\x1b\[[A-Z]|.", keys, re.DOTALL):
            os.write(self.fd, key.encode())
            self.read(0.03)

    def crash(self):
        """Kills the program as a power cut would, and opens its run again."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        while self.read(0.2):
            pass
        self.events.append([round(self.shown_at + 1, 3), "o", "\x1b[0m\x1b[?1049l\x1b[?25h\x1b[2J\x1b[H[the process was killed]\r\n$ dagdeck console --run last\r\n"])
        self.shown_at += 2.5
        self.seen, self.last = b"", None
        self.open(["console", "--run", "last"])


def record(program, name):
    plans, steps = RECORDINGS[name]
    home = tempfile.mkdtemp()
    os.mkdir(SHOP)
    try:
        os.mkdir(f"{SHOP}/src")
        for file, lines in (("main.rs", 40), ("pool.rs", 120), ("store.rs", 90)):
            with open(f"{SHOP}/src/{file}", "w") as out:
                out.write("// a line\n" * lines)
        for plan in plans:
            with open(f"{SHOP}/plan.json", "w") as out:
                json.dump(plan, out, indent=2)
        recording = Recording(program, home)
        recording.open(["console", "plan.json"] if plans else ["console"])
        for words, look, keys in steps:
            recording.wait(words)
            recording.read(look)
            if keys is None:
                recording.crash()
            else:
                recording.press(keys)
        while recording.read(2.0):
            pass
        os.waitpid(recording.pid, 0)
    finally:
        shutil.rmtree(SHOP)
        shutil.rmtree(home)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.cast")
    head = {"version": 2, "width": WIDTH, "height": HEIGHT, "title": f"dagdeck: {name.replace('-', ' ')}", "env": {"TERM": "xterm-256color"}}
    with open(path, "w") as out:
        for line in [head, *recording.events]:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{path}: {len(recording.events)} events, {recording.shown_at:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[2:] or RECORDINGS:
        record(os.path.abspath(sys.argv[1]), name)
