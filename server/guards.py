"""What is refused before any route sees it: foreign hosts and origins, bodies that are too large."""

from fastapi import FastAPI

from settings import Settings


def add_guards(app: FastAPI, settings: Settings) -> None:
    """Not yet."""
