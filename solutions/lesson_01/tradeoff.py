"""The trade-off of lesson 01: how much of the chip a launch holds, and how many warps keep it busy.

No call takes a GPU for granted: the number of SMs and of slots are arguments.
"""

SCHEDULERS = 4  # per SM, each with its own share of the SM's warps


def waves(blocks: int, sms: int, per_sm: int) -> tuple[int, float, float]:
    """(full waves, tail, utilisation) of a launch of at least one block, all equally long.

    An SM has slots for per_sm blocks, and a wave fills every slot of the chip once. The tail is the
    fraction of the slots that the last, unfinished wave fills, 0.0 if there is none. Utilisation is
    the fraction of all slots, over all waves, that a block filled.
    """
    # TASK 6: a started wave lasts as long as a full one
    slots = sms * per_sm
    full, left = divmod(blocks, slots)
    started = full + (left > 0)
    return full, left / slots, blocks / (started * slots)
    # END TASK


def busy_fraction(warps: int, latency: float, issue: float = 1.0) -> float:
    """The fraction of its cycles in which a scheduler has an instruction to issue.

    warps    on the SM, dealt out evenly to its schedulers
    latency  cycles from an instruction's issue to the moment its warp can issue the next
    issue    cycles for which one instruction keeps the scheduler
    """
    # TASK 6: what the warps of one scheduler issue during one latency; never more than all of it
    return min(1.0, warps / SCHEDULERS * issue / latency)
    # END TASK


def latency_hiding_warps(latency: int, issue: int = 1, independent: int = 1) -> int:
    """The fewest warps per SM, the same number for each scheduler, that leave no cycle empty.

    independent  instructions that a warp can issue before it must wait for the first
    """
    # TASK 6: while one warp waits, the others of its scheduler have to fill the time
    per_scheduler = -(-latency // (issue * independent))
    return per_scheduler * SCHEDULERS
    # END TASK
