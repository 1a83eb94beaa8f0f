"""Lesson 08, task 4: what the compiler says that a kernel takes, and when it runs out."""

import pytest

from curriculum.lesson_08 import budget, host
from curriculum.lesson_08.budget import Account
from references.hardware import GPUS, H200
from references.residency import filled

# As the assembler writes it. A function that a kernel calls has lines of its own, in one version of
# the assembler behind the kernel's, in another before them.
LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'scale_all' for 'sm_90'
ptxas info    : Function properties for power
ptxas         .     16 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Function properties for scale_all
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 1.577 ms
ptxas info    : Compiling entry function 'scale' for 'sm_90'
ptxas info    : Function properties for scale
ptxas         .     8 bytes stack frame, 132 bytes spill stores, 140 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas info    : Compile time = 9.331 ms
"""
_POWER = LOG[LOG.index("ptxas info    : Function") : LOG.index("ptxas info    : Function", 150)]
_NEXT = "ptxas info    : Compiling entry function 'scale' for"
LOGS = {"before": LOG, "behind": LOG.replace(_POWER, "").replace(_NEXT, _POWER + _NEXT)}


def checked_account(log, kernel, registers, stores, loads):
    got = budget.account(log, kernel)
    if not isinstance(got, Account):
        pytest.fail(f"account of {kernel!r} returned {got!r}, which is no Account", pytrace=False)
    for what, ours, wanted in (
        ("registers", got.registers, registers),
        ("bytes of spill stores", got.spill_store_bytes, stores),
        ("bytes of spill loads", got.spill_load_bytes, loads),
    ):
        said = f"{kernel}: {ours} {what}, and the log says {wanted}"
        assert ours == wanted, f"{said}:\n\n{log}"


def bounds(threads, blocks):
    return f"-DBOUNDS=__launch_bounds__({threads}, {blocks})"


@pytest.mark.task(4)
@pytest.mark.parametrize("called", LOGS)
def test_each_kernel_has_an_account_of_its_own(called):
    checked_account(LOGS[called], "scale", 24, 132, 140)
    checked_account(LOGS[called], "scale_all", 38, 0, 0)


@pytest.mark.task(4)
def test_a_kernel_that_the_log_does_not_have_is_no_guess():
    checked_account(LOG, "scale", 24, 132, 140)
    for absent in ("power", "scal", "ale"):  # `power` is called by a kernel, and is none
        try:
            came = f"is {budget.account(LOG, absent)!r}"
        except KeyError:
            continue
        except Exception as error:
            came = f"raises {type(error).__name__}: {error}"
        pytest.fail(f"account(log, {absent!r}) {came}; it should raise KeyError", pytrace=False)


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "file, kernel, options",
    [
        ("kernel.cu", "copy4", ("-DILP=4",)),
        ("many_sums.cu", "many_sums", ("-DSUMS=40", bounds(256, 4))),
        ("many_sums.cu", "many_sums", ("-DSUMS=80", bounds(1024, 1))),
    ],
)
def test_the_log_of_this_lessons_kernels_is_read(file, kernel, options):
    log = host.compiler_log(options, file)
    module = host.cuda.module(host.__file__, file)
    taken = module.get_function(kernel).resources(host.ARCHITECTURE, options)
    spilled = taken.spill_store_bytes, taken.spill_load_bytes
    checked_account(log, kernel, taken.registers, *spilled)


@pytest.mark.task(4)
@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_one_register_more_and_the_blocks_no_longer_fit(gpu):
    for threads, blocks in ((1024, 1), (256, 4), (256, 3), (32, 1), (32, 16), (96, 7), (160, 6)):
        got = budget.register_limit(gpu, threads, blocks)
        call = f"register_limit({gpu.name}, {threads}, {blocks})"
        if isinstance(got, bool) or not isinstance(got, int):
            pytest.fail(f"{call} returned {got!r}; registers are counted in ints", pytrace=False)
        most = max(r for r in range(1, 256) if filled(gpu, threads, r)[0] >= blocks)
        assert 1 <= got <= 255, f"{call} is {got}; with {most} still {blocks} blocks fit"
        fit = filled(gpu, threads, got)[0]
        assert fit >= blocks, f"{call} is {got}, with which only {fit} blocks fit"
        more = filled(gpu, threads, got + 1)[0]
        assert more < blocks, f"{call} is {got}, and with {got + 1} still {more} blocks fit"


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "threads, blocks", [(1024, 1), (256, 2), (256, 3), (256, 5), (128, 12), (32, 23), (160, 4)]
)
def test_the_compiler_stops_at_the_same_limit(threads, blocks):
    """many_sums with 120 sums takes all the registers that its bounds leave it."""
    log = host.compiler_log(("-DSUMS=120", bounds(threads, blocks)))
    used = int(log.rpartition("Function properties for many_sums")[2].split("Used ")[1].split()[0])
    got = budget.register_limit(H200, threads, blocks)
    said = f"__launch_bounds__({threads}, {blocks}): the compiler used {used} registers"
    assert got == used, f"{said}; register_limit is {got}"


@pytest.mark.task(4)
@pytest.mark.parametrize("threads, blocks, limit", [(1024, 1, 64), (256, 7, 32), (32, 23, 80)])
def test_as_many_values_as_registers_need_not_spill(threads, blocks, limit):
    for values, wanted in ((1, False), (limit, False), (limit + 1, True), (255, True)):
        got = budget.must_spill(H200, values, threads, blocks)
        said = f"must_spill(H200, {values}, {threads}, {blocks}) is {got!r}"
        assert got is wanted, f"{said}, not {wanted}: a thread has {limit} registers"


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "sums, threads, blocks",
    [
        (40, 256, 2),
        (40, 256, 4),
        (40, 1024, 1),
        (80, 256, 2),
        (24, 256, 5),
        (40, 256, 7),
        (40, 1024, 2),
        (80, 1024, 1),
        (80, 128, 12),
        (84, 32, 23),  # 65,536 / (23 * 32) is 89, but a quarter holds 6 such warps at 80 only
    ],
)
def test_a_kernel_spills_when_its_values_outnumber_its_registers(sums, threads, blocks):
    log = host.compiler_log((f"-DSUMS={sums}", bounds(threads, blocks)))
    own = log.rpartition("Function properties for many_sums")[2]
    bytes_ = int(own.split(" bytes spill stores")[0].split()[-1])
    got = budget.must_spill(H200, sums, threads, blocks)
    said = f"{sums} sums under __launch_bounds__({threads}, {blocks}): must_spill says {got!r}"
    assert got is (bytes_ > 0), f"{said}, and the compiler spills {bytes_} bytes a thread"
