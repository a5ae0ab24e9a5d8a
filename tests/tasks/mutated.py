"""Valid files with bytes changed, for every reader: only errors in our words may come of them."""

from __future__ import annotations

import random
import time
import tracemalloc

from regard.errors import RegardError

WORST = [0, 1, 0x7F, 0x80, 0xFF, 9, 10, 13, 32, 35, 45, 95]


def mutate(data: bytes, draw: random.Random) -> bytes:
    """One to eight changes: other bytes, pieces gone, doubled, moved or made up, an early end."""
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        kind = draw.randrange(7)
        # beginnings are where sizes and formats stand
        near = len(out) if draw.random() < 0.5 else min(len(out), 128)
        at = draw.randrange(near + 1)
        size = draw.choice([1, 2, 4, 8, 100])
        if kind <= 1:
            out[at : at + 1] = bytes([draw.choice([*WORST, draw.randrange(256)])])
        elif kind == 2:
            out[at : at + 4] = draw.choice([b"\xff\xff\xff\xff", bytes(4), b"\x7f\xff\xff\xff"])
        elif kind == 3:
            del out[at : at + size]
        elif kind == 4:
            out[at:at] = draw.randbytes(size)
        elif kind == 5:
            out[at:at] = out[at : at + size]
        else:
            del out[at:]
    return bytes(out)


def fuzz(read, path, valid: list[bytes], *, count: int, seconds: float = 5, memory: int = 1 << 28):
    """Read mutated files; gives how many were read, and how many were refused in our words."""
    good = refused = 0
    for seed in range(count):
        draw = random.Random(seed)
        data = mutate(draw.choice(valid), draw)
        path.write_bytes(data)
        tracemalloc.start()
        begun = time.process_time()
        said = "a line"
        try:
            read(path)
            good += 1
        except (RegardError, OSError) as error:
            refused += 1
            said = str(error)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert said, seed
        assert "\n" not in said, (seed, said)
        assert time.process_time() - begun < seconds, seed
        assert peak < memory, (seed, peak)
    return good, refused
