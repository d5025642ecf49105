"""The project's own commands: a typed test, build or lint command becomes the one that this project uses."""
