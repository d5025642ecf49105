"""The figures that the documentation gives are those of a new run."""

from pathlib import Path

import pytest

from bench.memory.evaluate import report
from snell.llm.embeddings.minilm import model_folder, model_in

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/memory.md"


@pytest.mark.timeout(300)  # ten seconds of computing, on a machine with other tests on it
@pytest.mark.proves("S4-126")
def test_the_page_about_memory_has_the_figures_of_this_program() -> None:
    page = PAGE.read_text(encoding="utf-8")
    folder = model_folder("")  # where a user has installed it, its figures are compared as well
    assert [row for row in report(model=model_in(folder) if folder else None) if row not in page] == []
