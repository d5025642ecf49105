"""How long the page is served."""

from snell.ui.lifetime import AFTER_CLOSE, WITHOUT_PAGE, Lifetime


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_waits_long_for_the_link_to_be_opened():
    clock = Clock()
    lifetime = Lifetime(clock)
    clock.now = WITHOUT_PAGE
    assert not lifetime.is_over
    clock.now += 1
    assert lifetime.is_over


def test_it_stays_while_a_page_is_open_and_ends_soon_after_the_last_one():
    clock = Clock()
    lifetime = Lifetime(clock)
    with lifetime.page():
        with lifetime.page():
            pass
        clock.now = 10 * WITHOUT_PAGE
        assert not lifetime.is_over
    clock.now += AFTER_CLOSE
    assert not lifetime.is_over
    lifetime.note_request()  # another page is being opened
    clock.now += AFTER_CLOSE
    assert not lifetime.is_over
    clock.now += 1
    assert lifetime.is_over
