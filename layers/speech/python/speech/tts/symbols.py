"""Numbers of the symbols that the acoustic model reads. The order is part of every trained model."""

from __future__ import annotations

from speech.errors import BadText

PAD = 0  # before the first symbol of a sentence and after its last
INVENTORY = " ,.!?;:ˈˌAIOWYiuæɑəɛɜɪʊʌɔɐᵊᵻbdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθʔ"  # numbered from 1
SIGNS = ",.!?;:"
COUNT = len(INVENTORY) + 1
_NUMBER = {symbol: i for i, symbol in enumerate(INVENTORY, 1)} | {"—": INVENTORY.index(",") + 1}


def encode(phonemes: str, begins: bool = True, ends: bool = True) -> list[int]:
    """Numbers of a line of phonemes, with a pad before it if a sentence begins there, and after it if one ends.

    Raises BadText naming a symbol that no voice knows.
    """
    try:
        inner = [_NUMBER[symbol] for symbol in phonemes]
    except KeyError as error:
        raise BadText(f"{error.args[0]!r} in {phonemes!r} is no phoneme that the voices know") from None
    return [PAD] * begins + inner + [PAD] * ends
