"""What the gallery says of each kind of fault, and which program shows it."""

from dataclasses import dataclass

from simulator import FaultKind


@dataclass(frozen=True)
class Entry:
    """kind: None for a note. traps: hardware stops such a kernel by itself."""

    kind: FaultKind | None
    title: str
    program: str
    means: str
    cure: str
    traps: bool = False
    includes: tuple[str, ...] = ()


def _fault(kind, program, means, cure, *, title="", **more):
    heading = kind.value[0].upper() + kind.value[1:] + (f": {title}" if title else "")
    return Entry(kind, heading, program, means, cure, **more)


ENTRIES = [
    _fault(
        FaultKind.OUT_OF_BOUNDS,
        "past_the_end",
        "An address lies outside the tensor it was made from. On a GPU the bytes behind a "
        "tensor often belong to another one, and nothing stops the access.",
        "Launch enough threads for all elements, and let those past the end do nothing: `if (i "
        "< n)`.",
    ),
    _fault(
        FaultKind.MISALIGNED,
        "four_floats_from_the_second",
        "An access of 2, 4, 8 or 16 bytes must begin at a multiple of its size. A `float4` that "
        "begins at the second float does not.",
        "Peel the first elements off one by one, or let the wide part begin at a multiple of four.",
        traps=True,
    ),
    _fault(
        FaultKind.WRITE_TO_CONST,
        "written_through_a_cast",
        "The kernel declares a pointer `const` and writes through it all the same. The compiler "
        "may have read the old value through a cache that the write does not reach.",
        "Write to an output, or drop `const` where the tensor is meant to change.",
    ),
    _fault(
        FaultKind.RACE,
        "read_after_write_between_warps",
        "Two threads of a block touch the same bytes, one of them writes, and no barrier stands "
        "between. A warp may be far ahead of its neighbour, so either may come first.",
        "Put a `__syncthreads()` between the two lines, where all threads of the block pass it.",
        title="between warps",
    ),
    _fault(
        FaultKind.RACE,
        "tail_without_syncwarp",
        "Lanes of one warp are threads of their own since Volta: that they run in step is not "
        "promised. `volatile` does not change that.",
        "Put a `__syncwarp()` between write and read, and another between read and write; or "
        "use shuffles.",
        title="between lanes of a warp",
    ),
    _fault(
        FaultKind.RACE,
        "an_update_lost_between_blocks",
        "Blocks run at the same time or one after another, in any order, and no barrier spans "
        "them. What one adds between another's read and write is lost.",
        "Use an atomic, give each block an element of its own, or end the kernel and launch a "
        "second one.",
        title="between blocks",
    ),
    _fault(
        FaultKind.RACE,
        "no_fence_before_the_flag",
        "A flag tells another block that data is there. Without a fence before the flag, and "
        "another behind the read that saw it, the data may come later than the flag.",
        "`data; __threadfence(); flag` on one side, `flag; __threadfence(); data` on the other; "
        "flags are `volatile` or atomic.",
        title="a flag without its fence",
    ),
    _fault(
        FaultKind.UNFINISHED_COPY,
        "a_copy_not_waited_for",
        "A copy that was only started may write at any time until its thread waits for it. A "
        "barrier does not wait for copies.",
        "Wait first, then the barrier: `__pipeline_wait_prior(0); __syncthreads();`.",
        includes=("cuda_pipeline.h",),
    ),
    _fault(
        FaultKind.UNINITIALISED_READ,
        "never_written",
        "Shared memory begins with whatever the block before left in it. Reading an element "
        "that nobody wrote gives a different answer from launch to launch.",
        "Write every element that is read later; where there is no input, write a zero.",
    ),
    _fault(
        FaultKind.UNDEFINED_VALUE,
        "a_sum_that_begins_with_anything",
        "A variable that was never given a value holds what its register held before: often zero, "
        "until the kernel around it changes. It may be copied and computed with; the fault comes "
        "where it is stored, decides something or is an address.",
        "Give the variable a value where it is declared.",
        title="a variable",
    ),
    _fault(
        FaultKind.UNDEFINED_VALUE,
        "undefined_in_a_tile",
        "The last threads have loaded nothing, and what they put into shared memory is read by "
        "others. It would do no harm if nobody used it.",
        "Give the value in the other arm too: `value = i < n ? x[i] : 0.0f`.",
        title="through shared memory",
    ),
    _fault(
        FaultKind.UNDEFINED_VALUE,
        "added_to_what_nobody_wrote",
        "`torch.empty` gives memory and promises nothing about what is in it. In a lesson's test "
        "it holds a pattern of bits by which it is known again.",
        "Begin with `torch.zeros`, or write each element before it is read.",
        title="fresh memory",
    ),
    _fault(
        FaultKind.ENDLESS_LOOP,
        "a_loop_without_a_step",
        "A loop comes back to where it was, with nothing changed: it will do so for ever.",
        "Look for the step that was forgotten, or for a bound that never comes.",
    ),
    _fault(
        FaultKind.DEADLOCK,
        "two_locks_in_two_orders",
        "Threads wait for memory to change, and all who could change it wait too, have ended, "
        "or have not started.",
        "Take several locks in one order everywhere; wait only for blocks that are sure to be "
        "running.",
    ),
    _fault(
        FaultKind.DIVERGENT_BARRIER,
        "a_barrier_in_a_loop_of_each_thread",
        "`__syncthreads()` is for all threads of the block at once: the same call, equally often.",
        "Move the barrier out of the condition, and put the condition around the work alone.",
    ),
    _fault(
        FaultKind.DIVERGENT_BARRIER,
        "a_barrier_in_an_if",
        "Those who go round a barrier do not wait for what was done before it. A GPU may hang, or "
        "let everybody pass.",
        "Move the barrier behind the `if`, where all threads of the block come by.",
        title="gone round",
    ),
    _fault(
        FaultKind.ABSENT_LANES,
        "a_full_mask_in_a_branch",
        "The mask of a shuffle, vote or `__syncwarp()` names the lanes that take part. It named "
        "some that never came, or left out the one who called.",
        "Take the call out of the branch, or make the mask before it: `__ballot_sync(~0u, i < n)`.",
    ),
    _fault(
        FaultKind.ABSENT_LANES,
        "a_shuffle_from_a_lane_that_returned",
        "A mask may name lanes that have returned: nobody waits for them. But they have no value "
        "to give, and what a shuffle reads from them is undefined.",
        "Guard what a lane reads and writes, and let all 32 come to the shuffle.",
        title="a lane that returned",
    ),
    _fault(
        FaultKind.DIVERGENT_WARP,
        "half_a_warp_at_the_tensor_cores",
        "An instruction of the tensor cores is executed by a whole warp together. Part of it "
        "took another way.",
        "Let conditions around it hold for whole warps: compare `threadIdx.x / 32`, not "
        "`threadIdx.x`.",
        includes=("mma.h", "cuda_fp16.h"),
    ),
    _fault(
        FaultKind.ASSERTION,
        "an_assertion",
        "An `assert` of the kernel does not hold.",
        "The sentence names the thread; `printf` from it, or look at its inputs.",
        traps=True,
    ),
    _fault(
        FaultKind.TRAP,
        "a_trap",
        "The kernel ended itself by `__trap()`, or by a check that a library put there.",
        "Find the condition in front of it and the input that met it.",
        traps=True,
    ),
    _fault(
        FaultKind.STACK_OVERFLOW,
        "a_recursion_without_an_end",
        "Each call keeps its local variables on the thread's stack, which on a GPU holds 1 KB "
        "unless the host asks for more.",
        "Check that the recursion ends, or write it as a loop.",
        traps=True,
    ),
    _fault(
        FaultKind.ILLEGAL_CALL,
        "a_call_of_nothing",
        "A pointer to a function held no function's address.",
        "Fill the table of functions to its last entry, and check the index.",
        traps=True,
    ),
]

NOTES = [
    Entry(
        None,
        "Threads that had returned before a barrier",
        "return_before_a_barrier",
        "A barrier does not wait for threads that have returned. That is legal since Volta; but "
        "what they should have loaded, nobody has.",
        "Rather guard the work than return, so that all threads come to every barrier.",
    ),
    Entry(
        None,
        "Lanes that had returned before a vote",
        "a_vote_after_some_returned",
        "A vote does not wait for lanes that have returned, whatever the mask says, and counts "
        "none of them. That is legal; but what they should have voted is missing.",
        "Let lanes without an element vote too: `__ballot_sync(~0u, i < n && x[i] > 2)`.",
    ),
    Entry(
        None,
        "A shuffle up or down past the end",
        "a_shuffle_down_past_who_returned",
        "The last lanes of a group read beyond it, where a lane has returned: the value is "
        "undefined. No harm is done where nobody uses it.",
        "Guard what a lane reads and writes, rather than return.",
    ),
    Entry(
        None,
        "The same value from many threads",
        "the_same_value_from_all",
        "Several threads write one element between two barriers, all the same value. The "
        "outcome is certain as long as nobody reads it before the next barrier.",
        "Nothing, where you meant it. One writer, or an atomic, says so more clearly.",
    ),
    Entry(
        None,
        "A plain read of what atomics change",
        "a_plain_look_before_the_atomic",
        "The value may be out of date, and the compiler may keep it in a register. Where it "
        "only spares work, no harm is done.",
        "Read through a `volatile` pointer or a relaxed `cuda::atomic_ref`.",
    ),
    Entry(
        None,
        "Ordered by a shuffle alone",
        "ordered_by_a_shuffle_alone",
        "Lanes meet at a shuffle or a vote, but CUDA promises no order of their memory accesses "
        "for it.",
        "Put a `__syncwarp()` between write and read.",
    ),
]
