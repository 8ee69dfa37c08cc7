"""Results in all their forms."""

import math
from pathlib import Path

import numpy
import pytest

import truetail


@pytest.fixture(scope="module")
def hiccup() -> truetail.Result:
    return truetail.simulate("02-single-hiccup")


def test_times_are_seconds_and_nanoseconds_where_the_name_says_so(hiccup: truetail.Result) -> None:
    assert hiccup.quantile(0.99) == pytest.approx(0.41) and hiccup.quantile_ns(0.99) == 410_000_000
    assert hiccup.quantile(1) == pytest.approx(1.01) and hiccup.quantile(0.5) == pytest.approx(0.01)
    assert hiccup.quantile(0.985) == pytest.approx(0.11), "not only those of the table"
    assert hiccup.quantile(0.99, "service_time") == pytest.approx(0.41)
    assert hiccup.quantile(0.99, "start_delay") == 0.0


def test_all_that_is_known_of_a_quantile(hiccup: truetail.Result) -> None:
    info = hiccup.quantile_info(0.99)
    assert (info.q, info.value_ns, info.supported, info.at_least, info.no_answer) == (0.99, 410_000_000, True, False, False)
    assert info.low is not None and info.low_ns is not None and info.low_ns <= 410_000_000
    assert repr(info) == "<truetail.Quantile p99 410.0ms>" and info == hiccup.quantile_info(0.99)


def test_what_the_sample_cannot_carry_is_no_number(hiccup: truetail.Result) -> None:
    assert hiccup.quantile(0.99999) is None and hiccup.quantile_ns(0.99999) is None
    info = hiccup.quantile_info(0.99999)
    assert not info.supported and info.value is None and info.needs_n is not None and info.needs_n > hiccup.count


def test_the_books_the_verdict_and_the_rest(hiccup: truetail.Result) -> None:
    assert hiccup.tally["planned"] == hiccup.tally["responses"] == hiccup.count == 60_000
    assert hiccup.verdict.state == "VALID" and hiccup.verdict.reasons == []
    assert (hiccup.name, hiccup.model, hiccup.interrupted, hiccup.one_in) == ("02-single-hiccup", "open", False, 1)
    assert hiccup.offered_per_second == pytest.approx(1000)
    assert hiccup.exceptions == {} and hiccup.first_exception is None and hiccup.lacking == []


def test_one_line_one_screen_and_a_notebook(hiccup: truetail.Result) -> None:
    line = repr(hiccup)
    assert line == (
        "<truetail.Result 02-single-hiccup: VALID, 60000 arrivals at 1000/s, p50 10.00ms, p99 410.0ms, max 1.010s>"
    )
    assert "p99.99" in hiccup.table() and "410.0ms" in hiccup.table()
    assert all(ord(letter) < 128 for letter in hiccup.table(unicode=False))
    assert max(map(len, hiccup.table(width=60).splitlines())) <= max(map(len, hiccup.table().splitlines()))
    html = hiccup._repr_html_()
    assert "<table>" in html and "410.0ms" in html and "VALID" in html


def test_a_name_cannot_command_the_notebook() -> None:
    def evil() -> None: ...

    evil.__name__ = "<script>alert(1)</script>"
    html = truetail.bench(evil, rate=100, duration="20ms")._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_reasons_carry_their_numbers() -> None:
    verdict = truetail.simulate("05").verdict
    reason = next(reason for reason in verdict.reasons if reason.code == "saturated")
    assert verdict.state == reason.state == "INVALID" and "saturated" in repr(verdict)
    assert reason.numbers["capacity_per_second"] == pytest.approx(500, rel=0.01) and reason.message in repr(reason)


def test_as_an_array(hiccup: truetail.Result) -> None:
    samples = hiccup.to_numpy()
    assert len(samples) == hiccup.count and samples.flags.writeable
    times = samples["response_time_ns"]
    assert numpy.quantile(times, 0.99, method="inverted_cdf") == hiccup.quantile_ns(0.99)
    assert (samples["end_ns"] - samples["intended_start_ns"] == times).all()
    assert (numpy.diff(samples["intended_start_ns"]) == 1_000_000).all()
    assert (samples["status"] == 200).all()
    assert set(samples["outcome"]) == {"response"} and not samples["only_slow"].any()


def test_unanswered_arrivals_are_in_the_array() -> None:
    refused = truetail.simulate(
        """
        [workload]
        rate = 100
        duration = "10s"
        timeout = "100ms"
        [service]
        baseline = "1ms"
        [[service.fault]]
        kind = "black-hole"
        at = "5s"
        for = "1s"
        """
    )
    samples = refused.to_numpy()
    outcomes = list(samples["outcome"])
    assert (numpy.isnan(samples["status"]) == (samples["outcome"] != "response")).all()
    assert outcomes.count("timed_out") == refused.tally["timed_out"] == 100
    assert refused.quantile(0.99) == math.inf and refused.quantile_info(0.99).value == pytest.approx(0.1)


def test_more_than_fits_is_an_even_part_and_the_slowest() -> None:
    busy = truetail.simulate('[workload]\nrate = 10000\nduration = "40s"\n[service]\nbaseline = "1ms"\n')
    even, all_kept = busy.to_numpy(), busy.to_numpy(slowest=True)
    assert busy.one_in == 2 and len(even) < 262_144 < busy.count
    assert len(all_kept) > len(even) and all_kept["only_slow"].sum() == len(all_kept) - len(even)


def test_as_a_data_frame(hiccup: truetail.Result) -> None:
    frame = hiccup.to_pandas()
    assert len(frame) == hiccup.count and frame["response_time_ns"].max() == 1_010_000_000
    assert list(frame["outcome"].cat.categories) == ["response"]
    assert frame["status"].dtype == "Int64" and (frame["status"] == 200).all()


def test_as_buckets(hiccup: truetail.Result) -> None:
    hist = hiccup.hist("response_time")
    assert sum(hist.count) == hiccup.count and len(hist) == len(hist.low_ns) == len(hist.high_ns)
    assert all(low <= high for low, high in zip(hist.low_ns, hist.high_ns))
    assert hist.low_ns == sorted(hist.low_ns) and "60000 values" in repr(hist)
    assert len(hiccup.hist("failed")) == 0


def test_saved_and_loaded_it_is_the_same(hiccup: truetail.Result, tmp_path: Path) -> None:
    def order() -> None: ...

    measured = truetail.bench(order, rate=1000, duration="500ms", warmup="100ms")
    for number, result in enumerate([hiccup, measured]):
        folder = tmp_path / str(number)
        result.save(folder)
        loaded = truetail.load(str(folder))
        assert loaded.to_dict() == result.to_dict() and loaded.to_dict()["schema"] == "truetail.run/1"
        assert loaded.table() == result.table() and loaded.to_numpy().tobytes() == result.to_numpy().tobytes()
        (folder / "samples.csv").unlink()
        assert truetail.load(folder).lacking == ["samples.csv is missing, so there are no single requests"]


def test_what_cannot_be_saved_or_loaded(hiccup: truetail.Result, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no run"):
        truetail.load(tmp_path / "nothing")
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(ValueError, match="^path: .*mine.txt"):
        hiccup.save(tmp_path)
    hiccup.save(tmp_path / "run")
    with pytest.raises(FileExistsError, match="^path: .*run holds a run already; .*force=True"):
        truetail.bench(print, rate=10, requests=1).save(tmp_path / "run")
    assert truetail.load(tmp_path / "run").count == hiccup.count
    hiccup.save(tmp_path / "run", force=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(ValueError, match="^path: .*run.json"):
        truetail.load(tmp_path / "run")
