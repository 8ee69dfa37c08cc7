"""Ctrl-C, as a signal to a process of its own."""

import json
import signal
import subprocess
import sys

import truetail


def listen_to_ctrl_c() -> None:
    """A process that a shell starts in the background inherits an ignored SIGINT, which Python keeps."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


AWAIT_S = 60
"""Longer than anything here takes."""

HEAD = """
import asyncio, json, sys, time, truetail

started = 0

def tell_once():
    global started
    started += 1
    if started == 20:
        print("called", flush=True)

def report(run):
    try:
        run()
    except truetail.Interrupted as stop:
        result = stop.result
        print(json.dumps([result.tally, result.interrupted, result.exceptions]))
        sys.exit(7)
"""


def interrupted(script: str, times: int = 1) -> tuple[dict[str, int], bool, dict[str, int]]:
    """Runs a script, sends Ctrl-C once it makes calls, and returns what it reports."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + script], stdout=subprocess.PIPE, text=True, preexec_fn=listen_to_ctrl_c
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "called\n"
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            # The second signal counts as another one only after the first was handled.
            if times > 1:
                assert process.stdout.readline() == "stopping\n"
        told, _ = process.communicate(timeout=AWAIT_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 7, told
    tally, was_interrupted, exceptions = json.loads(told)
    return tally, was_interrupted, exceptions


def is_cut_off(tally: dict[str, int]) -> bool:
    assert tally["planned"] == tally["issued"] + tally["never_issued"], tally
    return 20 <= tally["planned"] < 60_000 and tally["responses"] > 0


def test_between_calls() -> None:
    tally, was_interrupted, exceptions = interrupted("report(lambda: truetail.bench(tell_once, rate=200))")
    assert is_cut_off(tally) and was_interrupted and exceptions == {}


def test_inside_a_call_that_would_take_a_minute() -> None:
    script = """
def call():
    tell_once()
    if started == 20:
        time.sleep(60)
report(lambda: truetail.bench(call, rate=200, workers=1))
"""
    tally, _, exceptions = interrupted(script)
    assert is_cut_off(tally) and exceptions == {}, "a call that the user cut short did not fail"
    assert tally["in_flight_at_end"] == 1


def test_with_more_workers() -> None:
    tally, _, exceptions = interrupted("report(lambda: truetail.bench(tell_once, rate=200, workers=3))")
    assert is_cut_off(tally) and exceptions == {}


def test_coroutines() -> None:
    script = """
async def call():
    tell_once()
    await asyncio.sleep(0.01)
report(lambda: truetail.bench(call, rate=200))
"""
    tally, was_interrupted, exceptions = interrupted(script)
    assert is_cut_off(tally) and was_interrupted and exceptions == {}
    assert tally["in_flight_at_end"] == 0, "the first Ctrl-C waits for what is in flight"


def test_the_second_time_ends_at_once() -> None:
    script = """
import truetail._bench
async def call():
    tell_once()
    await asyncio.sleep(60 if started > 10 else 0)
plan_class = truetail._bench.Bench
class Plan:
    def __init__(self, **arguments):
        self.plan = plan_class(**arguments)
    def __getattr__(self, name):
        return getattr(self.plan, name)
    def stop(self):
        self.plan.stop()
        print("stopping", flush=True)
    def stop_now(self):
        self.plan.stop_now()
        print("stopping", flush=True)
truetail._bench.Bench = Plan
report(lambda: truetail.bench(call, rate=200))
"""
    tally, _, _ = interrupted(script, times=2)
    assert is_cut_off(tally) and tally["in_flight_at_end"] > 0


def test_http() -> None:
    script = """
with truetail.serve() as server:
    import threading
    def watch():
        while server.admitted < 20:
            time.sleep(0.01)
        print("called", flush=True)
    threading.Thread(target=watch).start()
    report(lambda: truetail.run(server.url, rate=200, duration="60s"))
"""
    tally, was_interrupted, _ = interrupted(script)
    assert is_cut_off(tally) and was_interrupted


def test_sessions() -> None:
    script = """
async def session(s):
    tell_once()
    await s.get("/a", step="a")
    await s.sleep("50ms")
    await s.get("/b", step="b")
with truetail.serve() as server:
    origin = f"http://{server.host}:{server.port}"
    report(lambda: truetail.flow(session, origin, rate=200, duration="60s", steps=["a", "b"]))
"""
    tally, was_interrupted, exceptions = interrupted(script)
    assert is_cut_off(tally) and was_interrupted and exceptions == {}


def test_it_is_a_keyboard_interrupt() -> None:
    assert issubclass(truetail.Interrupted, KeyboardInterrupt)
