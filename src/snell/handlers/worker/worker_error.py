"""The error of a worker that does not answer."""

from snell.system.deadline import FailedError


class WorkerError(FailedError):
    """The child did not answer: it exceeded the time limit, or it ended."""
