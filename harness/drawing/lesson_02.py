"""The picture of lesson 02: the levels of memory, each with its size, its rate and its distance."""

from harness.drawing.canvas import BLUE, GREEN, GREY, ON_PAINT, ORANGE, TEAL, Canvas
from references.hardware import H200, KIB, MEASURED_H200, MIB


def hierarchy() -> Canvas:
    canvas = Canvas("Five levels of memory on an H200: the nearer, the smaller and the faster")
    measured = MEASURED_H200
    registers = 128 * 3 * 4 * H200.sms * H200.boost_gigahertz / 1000  # operands of multiply-adds
    shared, l1, l2 = (
        gigabytes / 1000
        for gigabytes in (
            measured.shared_gigabytes_per_second,
            measured.l1_gigabytes_per_second,
            measured.l2_gigabytes_per_second,
        )
    )
    slow, fast = measured.copy_gigabytes_per_second, measured.read_gigabytes_per_second
    levels = (
        ("a thread", "registers", GREEN, f"{4 * H200.registers_per_sm // KIB} KiB an SM",
         f"about {round(registers, -1):.0f} TB/s (1)", "no time"),
        ("an SM", "shared memory, L1", TEAL, "256 KiB an SM (2)",
         f"shared {shared:.0f}, L1 {l1:.0f} TB/s", f"{measured.shared_latency_cycles:.0f} cycles"),
        ("the chip", "L2", BLUE, f"{H200.l2_bytes // MIB} MiB", f"{l2:.1f} TB/s",
         f"{measured.l2_latency_cycles:.0f} cycles"),
        ("off chip", "HBM", ORANGE, f"{H200.memory_gigabytes} GB",
         f"{slow / 1000:.1f} to {fast / 1000:.1f} TB/s (3)",
         f"{measured.memory_latency_cycles:.0f} cycles"),
        ("the host", "its own memory, over PCIe", GREY, "",
         f"{measured.pinned_gigabytes_per_second / 1000:.3f} TB/s", ""),
    )  # fmt: skip
    columns = (344.0, 474.0, 646.0)
    for x, words in zip(columns, ("how large", "all SMs together", "one load takes"), strict=True):
        canvas.text(x, 14, words, anchor="start", bold=True)
    for k, (whose, name, colour, *figures) in enumerate(levels):
        y = 32.0 + 44 * k
        canvas.text(72, y + 19, whose, anchor="end")
        width = 142.0 + 24 * k
        canvas.rectangle(84, y, width, 38, colour, outline=None, radius=4)
        canvas.label(84, y, width, 38, name, colour=ON_PAINT, headed=True)
        for x, words in zip(columns, figures, strict=True):
            if words:
                canvas.text(x, y + 19, words, anchor="start")
    return canvas


PICTURES = {"hierarchy": hierarchy}
