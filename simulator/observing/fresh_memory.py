"""Whether a launch can read global memory that nobody has written: asked before it begins."""

from collections.abc import Mapping

from simulator.observing.race_buffers import ways_by_buffer
from simulator.observing.race_ways import STORES
from simulator.reading.ptx import Entry
from simulator.running.buffers import AddressMap, Buffer


def reads_fresh(
    entry: Entry,
    parameters: Mapping[str, bytes],
    variables: Mapping[str, int],
    addresses: AddressMap,
) -> bool:
    """Whether the code may read, or update, a buffer that holds such elements now.

    Most fresh buffers are outputs, which a kernel only writes: those cost nothing.
    """
    fresh = [b for b in addresses.everything() if b.unwritten is not None]
    if not fresh:
        return False
    by_buffer, anywhere = ways_by_buffer(entry, parameters, variables, addresses)
    return any(
        not by_buffer.get(id(buffer), set()) | anywhere <= STORES and _has_unwritten(buffer)
        for buffer in fresh
    )


def _has_unwritten(buffer: Buffer) -> bool:
    assert buffer.unwritten is not None
    return bool((buffer.view(buffer.unwritten.dtype) == buffer.unwritten).any())
