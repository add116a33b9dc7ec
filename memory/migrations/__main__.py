"""`python -m memory.migrations "what changed"`: write the next revision; then set `HEAD` to its id."""

import sys

from alembic import command
from sqlalchemy import create_engine

from memory.migrations import HEAD, config, upgrade


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with create_engine("sqlite://").connect() as connection:
        upgrade(connection)
        command.revision(config(connection), sys.argv[1], autogenerate=True, rev_id=f"{int(HEAD) + 1:04}")


if __name__ == "__main__":
    main()
