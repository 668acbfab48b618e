"""The command line: `python -m speech`. The only part of the package that reads clocks and the environment."""
