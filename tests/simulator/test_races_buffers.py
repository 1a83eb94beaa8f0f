"""Which buffers need a shadow, as the code tells before it runs."""

import numpy as np
import pytest

from simulator.observing.race_buffers import may_race, ways_by_origin
from simulator.observing.race_ways import Way
from tests.simulator.compiled import compiled


def ways(body, parameters="const float* a, float* b, int n", before=""):
    source = f'{before}\nextern "C" __global__ void k({parameters}) {{ {body} }}'
    found = ways_by_origin(compiled(source, "k").entry)
    return {name.removeprefix("k_param_"): how for (name, _), how in found.items()}


def test_each_pointer_has_the_ways_of_its_own_accesses():
    found = ways("int i = threadIdx.x; if (i < n) b[i] = a[i + n];")
    assert found["0"] == {Way.READ} and found["1"] == {Way.WRITE}


def test_an_index_out_of_memory_leads_to_no_other_buffer():
    found = ways("b[x[threadIdx.x]] = 1;", "const int* x, float* b")
    assert found == {"0": {Way.READ}, "1": {Way.WRITE}}


def test_a_pointer_out_of_memory_leads_anywhere():
    found = ways("p[0][threadIdx.x] = 1;", "float** p")
    assert found["0"] == {Way.READ} and found[""] == {Way.WRITE}


def test_a_pointer_in_a_struct_is_found_by_its_place():
    before = "struct Two { int n; float* to; };"
    source = f'{before}\nextern "C" __global__ void k(Two two) {{ two.to[threadIdx.x] = two.n; }}'
    found = ways_by_origin(compiled(source, "k").entry)
    assert found[("k_param_0", 8)] == {Way.WRITE}


def test_either_of_two_pointers():
    found = ways("float* to = n > 3 ? b : c; to[threadIdx.x] = n;", "float* b, float* c, int n")
    assert found["0"] == found["1"] == {Way.WRITE}


def test_atomics_and_volatile_are_told_apart():
    found = ways(
        "atomicAdd(b, 1); d[0] = atomicAdd_block(c, 1);", "int* b, int* c, volatile int* d"
    )
    assert found["0"] == {Way.UPDATE} and found["1"] == {Way.BLOCK_UPDATE}
    assert found["2"] == {Way.STRONG_WRITE}


def test_module_variables_are_origins_by_their_names():
    found = ways("b[threadIdx.x] = table[n];", before="__device__ float table[4];")
    assert found["table"] == {Way.READ}


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({Way.READ}, False),
        ({Way.UPDATE}, False),
        ({Way.UPDATE, Way.STRONG_READ}, False),
        ({Way.WRITE}, True),
        ({Way.READ, Way.UPDATE}, True),
        ({Way.BLOCK_UPDATE}, True),
    ],
)
def test_only_ways_that_conflict_need_a_shadow(how, wanted):
    assert may_race(frozenset(how)) is wanted


def test_a_buffer_of_gigabytes_of_which_little_is_touched_needs_little():
    from simulator.observing.shadow_traces import zeros

    many = zeros(1 << 33)  # 64 GiB, were all of it there
    many[1 << 32] = 5
    assert int(many[1 << 32]) == 5 and not np.any(many[:8])
