from collections.abc import Iterator

import pytest

from tests.fakes.provider import ScriptedProvider


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """The scripted provider, the only fake."""
    with ScriptedProvider() as scripted:
        yield scripted
