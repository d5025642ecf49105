"""Fixtures of the tests of `snell-hook`, which take both of its forms in turn."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.shim_sandbox import ShimSandbox, compile_shim

HASTY = ("-DSNELL_CONNECT_MS=300", "-DSNELL_BUSY_MS=600", "-DSNELL_ANSWER_MS=3000")


@pytest.fixture(scope="session")
def shim_program(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    return compile_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="session")
def hasty_shim_program(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    return compile_shim(tmp_path_factory.mktemp("shim"), *HASTY)


@pytest.fixture(params=["native", "python"])
def shim(request: pytest.FixtureRequest, tmp_path: Path, shim_program: Path | None) -> Iterator[ShimSandbox]:
    yield from _sandbox(request.param, tmp_path, shim_program)


@pytest.fixture
def native_shim(tmp_path: Path, shim_program: Path | None) -> Iterator[ShimSandbox]:
    yield from _sandbox("native", tmp_path, shim_program)


@pytest.fixture(params=["native", "hasty python"])
def hasty_shim(
    request: pytest.FixtureRequest, tmp_path: Path, hasty_shim_program: Path | None
) -> Iterator[ShimSandbox]:
    """One that waits for three seconds instead of ten minutes, and for half a second without a sign of life."""
    yield from _sandbox(request.param, tmp_path, hasty_shim_program)


def _sandbox(form: str, folder: Path, program: Path | None) -> Iterator[ShimSandbox]:
    if form == "native" and program is None:
        pytest.skip("there is no C compiler")
    sandbox = ShimSandbox(form, folder, program)
    yield sandbox
    sandbox.close()
