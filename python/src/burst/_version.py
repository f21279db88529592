"""The version of this package, which is that of the program it speaks to."""

__version__ = "0.1.0"
