"""A launch on the simulator: its arguments bound, its faults told, its counts recorded."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.launching import kept_modules, launch_notes, launch_settings
from harness.launching.binding import bound
from harness.launching.call_site import call_site, shown_path
from harness.launching.compiler import Compiled
from harness.launching.fault_report import FaultyLaunch, fault_report, source_line
from harness.launching.language import CUDA_CPP, Language
from harness.launching.launch_shape import LaunchShape
from harness.launching.recording import LaunchRecord, is_recording, record, recording
from harness.launching.signature import Signature
from harness.telling.learner_error import LaunchError

if TYPE_CHECKING:
    from simulator import Entry, Module, Settings

__all__ = ["launch_on_simulator", "parsed", "recording"]


def parsed(compiled: Compiled) -> "Module":
    """The simulator's reading of a compiled file."""
    from simulator import parse

    return kept_modules.module(lambda: parse(compiled.ptx), "CUDA C++", compiled.ptx)


def launch_on_simulator(
    entry: "Entry",
    signature: Signature,
    shape: LaunchShape,
    arguments: Sequence[Any],
    path: Path,
    cooperative: bool = False,
    language: Language = CUDA_CPP,
) -> None:
    """Run a checked launch. Raises KernelFault with `learner_report` set."""
    __tracebackhide__ = True
    from simulator import AddressMap, DoesNotFit, KernelFault, UnknownInstruction, launch

    try:
        memory = AddressMap()
        with bound(signature.parameters, arguments, memory) as passed:
            launched = launch(
                entry,
                grid=shape.grid,
                block=shape.block,
                arguments=passed,
                shared_bytes=shape.shared_bytes,
                settings=_settings(cooperative, language),
                addresses=memory,
            )
    except KernelFault as fault:
        _print(getattr(fault, "output", ""))
        written = language.launch(signature.kernel, shape.grid, shape.block)
        faulty = FaultyLaunch(path, written, str(call_site()))
        vars(fault)["learner_report"] = fault_report(fault, faulty)
        raise
    except UnknownInstruction as error:
        raise LaunchError(
            f"the simulator has no instruction {error.opcode}",
            where=source_line(path, error.line),
            expected="PTX as the compiler writes it for compute capability 8.0",
            advice="check the spelling of inline assembly; newer instructions need a GPU",
        ) from error
    except DoesNotFit as error:
        raise LaunchError(
            f"{signature.kernel}: {error}",
            where=str(call_site()),
            expected="no more blocks than the virtual device keeps resident",
            advice="launch fewer blocks, and let each loop over its share of the work",
        ) from error
    except Exception as error:  # a bug of the simulator's: its own traceback says where
        error.add_note(f"while the simulator ran {signature.kernel} of {shown_path(path)}")
        raise
    finally:
        kept_modules.keep(entry)
    _print(launched.output)
    launch_notes.keep(signature.kernel, launched.notes)
    record(
        LaunchRecord(signature.kernel, path, shape.grid, shape.block, shape.shared_bytes, launched)
    )


def _settings(cooperative: bool, language: Language) -> "Settings":
    from simulator import Settings

    changes = launch_settings.simulator_changes(launch_settings.current())
    changes["counters"] = bool(changes["counters"]) or is_recording()
    changes |= {"cooperative": cooperative, "words": language.words(), "tiles": language.tiles}
    return Settings(**changes)  # type: ignore[arg-type]


def _print(output: str) -> None:
    """What the kernel printed, where Python prints."""
    if output:
        sys.stdout.write(output)
        sys.stdout.flush()
