"""Name the version, in a module so small that `--version` costs nothing."""

__version__ = "0.1.0"
