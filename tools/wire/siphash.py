"""SipHash-2-4 of numbers under a key of two numbers, all of 64 bits (docs/wire.md)."""

MASK = 2**64 - 1


def rotated(x: int, by: int) -> int:
    return ((x << by) | (x >> (64 - by))) & MASK


def turn(v: list[int]) -> None:
    """One round."""
    v[0] = (v[0] + v[1]) & MASK
    v[2] = (v[2] + v[3]) & MASK
    v[1] = rotated(v[1], 13) ^ v[0]
    v[3] = rotated(v[3], 16) ^ v[2]
    v[0] = rotated(v[0], 32)
    v[2] = (v[2] + v[1]) & MASK
    v[0] = (v[0] + v[3]) & MASK
    v[1] = rotated(v[1], 17) ^ v[2]
    v[3] = rotated(v[3], 21) ^ v[0]
    v[2] = rotated(v[2], 32)


def siphash(key: tuple[int, int], numbers: list[int]) -> int:
    low, high = key
    v = [
        low ^ 0x736F6D6570736575,
        high ^ 0x646F72616E646F6D,
        low ^ 0x6C7967656E657261,
        high ^ 0x7465646279746573,
    ]
    for number in [*numbers, (8 * len(numbers) % 256) << 56]:
        v[3] ^= number
        turn(v)
        turn(v)
        v[0] ^= number
    v[2] ^= 0xFF
    for _ in range(4):
        turn(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
