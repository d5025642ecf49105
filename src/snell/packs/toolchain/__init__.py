"""The project's own commands: a test, build or lint command becomes the one that this project uses."""
