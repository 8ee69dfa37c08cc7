"""Results that go to other processes."""

import copy
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

import truetail


class Refused(Exception):
    """Its pickle cannot be read, because it takes two arguments and keeps one text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code} {text}")


def again(result: truetail.Result) -> truetail.Result:
    found = pickle.loads(pickle.dumps(result))
    assert isinstance(found, truetail.Result)
    return found


def same(result: truetail.Result, other: truetail.Result) -> None:
    assert other.to_dict() == result.to_dict() and other.table() == result.table() and repr(other) == repr(result)
    assert other.to_numpy(slowest=True).tobytes() == result.to_numpy(slowest=True).tobytes()
    assert (other.exceptions, other.lacking, other.notes) == (result.exceptions, result.lacking, result.notes)
    assert [gate.message for gate in other.gates] == [gate.message for gate in result.gates]


def test_a_result_is_the_same_in_another_process() -> None:
    def order() -> None: ...

    result = truetail.bench(order, rate=500, duration="200ms", warmup="50ms", fail_if=["p50 > 1ns", "p90 > 1h"], spacing="poisson")
    same(result, again(result))
    code = "import pickle, sys; sys.stdout.write(repr(pickle.load(sys.stdin.buffer)))"
    told = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(result), capture_output=True, check=True, timeout=60)
    assert told.stdout.decode() == repr(result)


def test_scenarios_streams_and_flows_keep_what_they_have() -> None:
    async def items() -> AsyncIterator[int]:
        yield 1

    async def session(s: truetail.Session) -> None:
        await s.get("/", step="a")

    with truetail.serve(baseline="1ms") as server:
        flow = truetail.flow(session, f"http://{server.host}:{server.port}", rate=50, duration="100ms", steps=["a"])
        run = truetail.run(server.url, rate=50, duration="100ms", checks=["status == 201"])
    results = [truetail.simulate("06-model-that-stalls"), truetail.bench(items, rate=100, duration="50ms"), flow, run]
    for result in results:
        same(result, again(result))
        assert again(result).streams == result.streams and again(result).sessions == result.sessions


@pytest.mark.parametrize(("error", "kind", "text"), [(KeyError("a"), KeyError, "'a'"), (Refused(7, "no"), Exception, "Refused: 7 no")])
def test_exceptions_travel_too(error: Exception, kind: type[Exception], text: str) -> None:
    def fails() -> None:
        raise error

    result = truetail.bench(fails, rate=500, duration="20ms")
    found = again(result)
    same(result, found)
    first = found.first_exception
    assert list(found.exceptions.values()) == [10] and type(first) is kind and str(first).endswith(text)
    assert ", in fails" in "".join(getattr(first, "__notes__", [", in fails"]))
    assert str(again(found).first_exception) == str(first)


def test_a_copy_is_the_result_itself() -> None:
    result = truetail.simulate("02-single-hiccup")
    assert copy.copy(result) is result and copy.deepcopy([result])[0] is result


def test_parts_of_a_result_travel_alone() -> None:
    result = truetail.simulate("05")
    judged = truetail.bench(lambda: None, rate=500, duration="50ms", fail_if=["p50 > 1h", "error-rate > 1%"])
    assert pickle.loads(pickle.dumps(result.quantile_info(0.99))) == result.quantile_info(0.99)
    assert copy.deepcopy(result.hist()).count == result.hist().count and repr(copy.copy(result.hist())) == repr(result.hist())
    verdict = pickle.loads(pickle.dumps(result.verdict))
    assert repr(verdict) == repr(result.verdict) and verdict.reasons[0].numbers == result.verdict.reasons[0].numbers
    assert repr(pickle.loads(pickle.dumps(result.verdict.reasons[0]))) == repr(result.verdict.reasons[0])
    assert [repr(gate) for gate in pickle.loads(pickle.dumps(judged.gates))] == [repr(gate) for gate in judged.gates]
