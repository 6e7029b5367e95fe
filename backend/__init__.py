"""openhype: how real generated images look to people (HYPE, Zhou et al. 2019)."""

__version__ = "1.0.0"
