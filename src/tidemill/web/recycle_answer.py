"""What a request to replace browsers is answered with."""

import msgspec


class RecycleAnswer(msgspec.Struct, frozen=True):
    """The recovery that was begun, and the processes whose browsers it concerns; `/status` tells what came of it."""

    entry_id: str
    pools: list[str]
