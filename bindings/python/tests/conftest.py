"""What several modules of tests use."""

from collections.abc import Iterator

import pytest
from serving import serving
from shop import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server
