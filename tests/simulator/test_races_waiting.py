"""What flags hand on is worked out when somebody asks: told is the same as if it were at once."""

import random

import numpy as np
import pytest

from simulator import KernelFault, parse
from simulator.observing import races
from simulator.observing.happens_before_flags import Flags
from tests.simulator.compiled import Kernel, run

BLOCKS, THREADS, WORDS = 3, 40, 160
_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .u32 %r<9>;
.reg .u64 %rd<9>;
.reg .u32 %g;
.reg .pred %p<3>;
ld.param.u64 %rd1, [k_0];
ld.param.u64 %rd2, [k_1];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.u32 %g, %r1, %r2, %r3;
mov.u32 %r6, 0;
"""
_ORDERS = ("acq_rel.gpu",) * 6 + ("acq_rel.cta", "relaxed.gpu", "release.gpu", "acquire.gpu")


class Crowd:
    """A program in which all lanes take part in all acts: few of its atomics are asked about."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.acts = [self._store(draw.choice((0,) * 9 + (1,)))]
        for _ in range(draw.randrange(2, 8)):
            choice = draw.random()
            if choice < 0.55:
                lanes = draw.choice((1, 2, 64, 256, 256, 256))
                self.acts.append(self._add(draw.choice(_ORDERS), lanes))
            elif choice < 0.65:
                self.acts.append("bar.sync 0;")
            elif choice < 0.7:
                self.acts.append("membar.gl;")
            elif choice < 0.75:
                self.acts.append("ld.acquire.gpu.global.u32 %r1, [%rd2];")
            elif choice < 0.77:
                self.acts.append("setp.eq.u32 %p1, %g, 7;\n@%p1 st.global.u32 [%rd2], 0;")
            else:
                self.acts.append(self._load(draw.choice((0, 0, 0, 1, 40, 80))))
        self.acts.append(self._load(draw.choice((0, 0, 1, 40))))

    @property
    def text(self):
        lines = [f".loc 1 {number} 0\n{act}" for number, act in enumerate(self.acts, 1)]
        return _HEAD + "\n".join(lines) + "\nret;\n}\n"

    def _at(self, base, index):
        at = {"%rd1": "%rd3", "%rd2": "%rd4"}[base]
        return f"{index}\nmul.wide.u32 %rd5, %r4, 4;\nadd.u64 {at}, {base}, %rd5;"

    def _store(self, shift):
        return self._at("%rd1", f"shr.u32 %r4, %g, {shift};") + "\nst.global.u32 [%rd3], %g;"

    def _load(self, back):
        """Of a lower lane's word: one that had its turn at a counter before."""
        index = f"max.u32 %r4, %g, {back};\nsub.u32 %r4, %r4, {back};"
        return self._at("%rd1", index) + "\nld.global.u32 %r5, [%rd3];"

    def _add(self, order, lanes):
        """Each counter is that of some lanes."""
        index = self._at("%rd2", f"div.u32 %r4, %g, {lanes};")
        return f"{index}\natom.{order}.global.add.u32 %r5, [%rd4], 1;\nadd.u32 %r6, %r6, %r5;"


def told(program, **settings):
    kernel = Kernel(program.text, parse(program.text).entries["k"], ("data", "counters"))
    memory = [np.zeros(WORDS, np.uint32) for _ in kernel.names]
    try:
        return run(kernel, BLOCKS, THREADS, *memory, counters=False, **settings).notes
    except KernelFault as fault:
        return str(fault)


@pytest.mark.parametrize("together", [BLOCKS, 2, 1])
@pytest.mark.parametrize("settings", [{}, {"order": "reversed", "warps_apart": True}])
@pytest.mark.parametrize("seed", range(60))
def test_it_makes_no_difference_when_atomics_are_taken_up(seed, settings, together, monkeypatch):
    settings = settings | {"resident_blocks": together}  # of each wave
    late = told(Crowd(seed), **settings)
    do = Flags._do
    monkeypatch.setattr(Flags, "_do", lambda flags, act, may_wait: do(flags, act, may_wait=False))
    assert told(Crowd(seed), **settings) == late


def test_crowds_with_races_and_without_are_both_common():
    assert 15 <= sum(isinstance(told(Crowd(seed)), str) for seed in range(60)) <= 45


def test_a_lane_whose_counter_comes_after_another_ones_knows_what_that_one_wrote():
    program = Crowd(0)
    program.acts = [program._store(0), program._add("acq_rel.gpu", 256), program._load(1)]
    assert told(program) == ()
    program.acts[1] = program._add("relaxed.gpu", 256)
    assert "RACE" in told(program).upper()


def test_atomics_that_nobody_asks_about_are_not_taken_up(monkeypatch):
    program = Crowd(0)
    program.acts = [program._store(0), program._add("acq_rel.gpu", 2), program._load(0)]
    assert told(program) == ()
    monkeypatch.setattr(Flags, "_take_up", _never)
    assert told(program) == ()


def test_flags_of_a_kernel_that_cannot_race_are_not_followed(monkeypatch):
    program = Crowd(0)
    program.acts = [program._add("acq_rel.gpu", 2), program._load(3)]
    monkeypatch.setattr(races, "Flags", _never)
    assert told(program) == ()


def _never(*_, **__):
    raise AssertionError("nobody has asked")
