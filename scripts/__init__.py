"""The parts of dev.py. Standard library only: they run before anything is installed."""
