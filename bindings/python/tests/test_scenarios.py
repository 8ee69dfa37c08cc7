"""Virtual time, and the misbehaving server in real time."""

import csv
import http.client
from datetime import timedelta
from pathlib import Path

import pytest

import truetail


def test_the_freeze() -> None:
    series = truetail.simulate("freeze")
    p99 = {name: result.quantile(0.99) for name, result in series.items()}
    assert p99["closed-loop-raw"] == pytest.approx(0.010) and p99["open-loop"] == pytest.approx(0.460)
    assert p99["closed-loop-corrected"] == pytest.approx(0.460, rel=0.001)
    assert (series["closed-loop-raw"].tally["responses"], series["open-loop"].tally["responses"]) == (450, 500)


def test_the_every_nth_pause() -> None:
    every_nth = truetail.simulate("every-nth")
    assert every_nth["open-loop"].quantile(0.9) == pytest.approx(0.13767, rel=0.001)
    assert every_nth["open-loop"].quantile(0.99) == pytest.approx(0.19389, rel=0.001)
    assert every_nth["closed-loop"].quantile(0.99) == pytest.approx(0.001)


def test_a_scenario_by_name_text_file_and_in_short(tmp_path: Path) -> None:
    text = '[workload]\nrate = 100\nduration = "2s"\n[service]\nbaseline = "3ms"\n'
    file = tmp_path / "three.toml"
    file.write_text(text)
    for given in (text, file, str(file)):
        result = truetail.simulate(given)
        assert result.count == 200 and result.quantile(0.5) == pytest.approx(0.003)
    short = truetail.simulate("02", duration=timedelta(seconds=6))
    assert short.count == 6000 and short.quantile(0.99) == pytest.approx(0.05)


def test_what_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="^scenario: there is no scenario 'nonsense'; use one of 01-healthy"):
        truetail.simulate("nonsense")
    with pytest.raises(FileNotFoundError):
        truetail.simulate(tmp_path / "none.toml")
    with pytest.raises(ValueError, match=r"^scenario: scenario.toml:2:1: .*rte"):
        truetail.simulate("[workload]\nrte = 100\nrate = 1\nduration = '1s'\n[service]\n")
    with pytest.raises(TypeError, match="^scenario: expected a name, a path or a text in TOML, not int"):
        truetail.simulate(3)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="^duration: "):
        truetail.simulate("02", duration=0)
    with pytest.raises(ValueError, match="^duration: a lab has settings of its own"):
        truetail.simulate("freeze", duration="1s")


def test_a_run_over_sockets_is_that_of_the_server(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    with truetail.serve("01", baseline="1ms", truth=truth) as server:
        assert repr(server) == f"<truetail.Server {server.url}>" and server.port in range(1, 65536)
        result = truetail.run(server.url, rate=200, duration="500ms", warmup="100ms")
    assert (result.tally["planned"], result.warmup_tally["planned"]) == (100, 20)
    assert result.tally["responses"] == 100 and result.statuses == {200: 100}, result.table()
    assert (result.to_numpy()["service_time_ns"] >= 1_000_000).all()
    assert server.admitted == 120, "the request before the load is none of the service"
    with truth.open() as rows:
        assert sum(1 for _ in csv.DictReader(rows)) >= 120
    server.stop()


def test_a_fault_in_real_time() -> None:
    with truetail.serve("02", duration="3s", baseline="1ms") as server:
        result = truetail.run(server.url, rate=200, duration="3s")
    # A stall of 50 ms at half time delays ten of 600, half of which wait for more than half of it.
    held_up = (result.to_numpy()["response_time_ns"] > 25_000_000).sum()
    assert result.tally["responses"] == 600 and held_up >= 5


def test_methods_headers_and_bodies() -> None:
    with truetail.serve(baseline="1ms") as server:
        for headers in ({"X-Order": "1"}, [("X-Order", "1")]):
            result = truetail.run(
                server.url, rate=100, duration="100ms", method="POST", headers=headers, data=b"{}", connections=2
            )
            assert result.statuses == {200: 10}
        connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
        connection.request("GET", "/healthy")
        assert connection.getresponse().status == 200
        connection.close()


def test_nobody_answers() -> None:
    server = truetail.serve()
    server.stop()
    with pytest.raises(ConnectionError, match="cannot connect to .* preflight=False"):
        truetail.run(server.url, rate=10)
    result = truetail.run(server.url, rate=100, duration="100ms", preflight=False)
    assert result.tally["connect_failed"] == 10 and result.causes == {"refused": 10}
    assert result.verdict.state == "INVALID"


def test_an_address_that_cannot_be_had() -> None:
    with truetail.serve() as server, pytest.raises(OSError, match="something else listens there"):
        truetail.serve(port=server.port)
    with pytest.raises(ValueError, match="^host: 'no such host'"):
        truetail.serve(host="no such host")
