"""What a hook gets when it asks for the usage of its session."""

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True):
    """What a session has used so far, as far as its client tells; 0, empty or None is unknown."""

    tokens_in: int = 0  # read by the model, without those from the cache
    tokens_out: int = 0  # written by the model
    tokens_cached: int = 0  # read from the cache, mostly the same ones again with every answer
    cache_written: int = 0  # read by the model and written to the cache
    context_tokens: int = 0  # in the context at the last answer
    context_window: int = 0  # how many the context can hold
    context_fill: float | None = None  # the used part of the context, from 0 to 1
    model: str = ""  # of the last answer

    @property
    def tokens_spent(self) -> int:
        """Return all tokens but those read from the cache; limits count these."""
        return self.tokens_in + self.tokens_out + self.cache_written
