"""A stub is its solution without the answers, and a region that cannot be cut says why."""

import ast

import pytest

from harness.stubs.cutting import StubError, stub_of, tasks_of, without_region

CUDA = """\
// Lesson 07: sum a tile.

extern "C" __global__
void block_sum(const float* x, float* sums, int n)
{
    extern __shared__ float tile[];
    int t = threadIdx.x;

    // TASK 1: fold the upper half of the tile onto the lower half, again and
    // again, until tile[0] holds the sum.

    // Half of the threads rest after each step.
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    // END TASK

    if (t == 0) {
        // TASK 2 (stretch): write the sum.
        sums[blockIdx.x] = tile[0];
        // END TASK
    }
}
"""

CUDA_STUB = """\
// Lesson 07: sum a tile.

extern "C" __global__
void block_sum(const float* x, float* sums, int n)
{
    extern __shared__ float tile[];
    int t = threadIdx.x;

    // TASK 1: fold the upper half of the tile onto the lower half, again and
    // again, until tile[0] holds the sum.
    // TODO: about 4 lines

    if (t == 0) {
        // TASK 2 (stretch): write the sum.
        // TODO: about 1 line
    }
}
"""

PYTHON = """\
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # TASK 1: copy x to y.
    value = tl.load(x + i, i < n)
    tl.store(y + i, value, i < n)
    # END TASK


def blocks(n, block):
    \"\"\"How many blocks cover n elements.\"\"\"
    # TASK 2: round up.
    if n == 0:
        return 0
    return -(-n // block)
    # END TASK
"""

PYTHON_STUB = """\
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    # TASK 1: copy x to y.
    # TODO: about 2 lines
    pass


def blocks(n, block):
    \"\"\"How many blocks cover n elements.\"\"\"
    # TASK 2: round up.
    # TODO: about 3 lines
    raise NotImplementedError("task 2")
"""


def in_kernel(body):
    return "__global__ void f(float* y, int n)\n{\n" + body + "}\n"


def in_function(body):
    return "def f(n):\n" + body


def refused(text, suffix):
    with pytest.raises(StubError) as caught:
        stub_of(text, suffix)
    return caught.value


def test_a_cuda_stub_keeps_the_task_and_puts_one_todo_in_place_of_the_answer():
    assert stub_of(CUDA, ".cu") == CUDA_STUB


def test_a_python_stub_raises_on_the_host_and_passes_in_a_triton_kernel():
    assert stub_of(PYTHON, ".py") == PYTHON_STUB


def test_an_autotuned_kernel_is_a_triton_kernel_and_a_scripted_function_is_not():
    tuned = PYTHON.replace("@triton.jit", "@triton.autotune(configs=[], key=[])\n@triton.jit")
    assert "    pass\n" in stub_of(tuned, ".py")
    scripted = PYTHON.replace("@triton.jit", "@torch.jit.script")
    assert "    pass\n" not in stub_of(scripted, ".py")


def test_a_file_in_another_language_is_its_own_stub():
    assert stub_of('{"TASK 1": 2}', ".json") == '{"TASK 1": 2}'


def test_a_file_without_tasks_is_its_own_stub():
    assert stub_of("x = 1\n", ".py") == "x = 1\n"
    assert stub_of("", ".py") == ""


def test_a_stub_is_its_own_task_list():
    expected = [
        "fold the upper half of the tile onto the lower half, again and again, until tile[0] "
        "holds the sum.",
        "write the sum.",
    ]
    assert [task.text for task in tasks_of(CUDA)] == expected
    stub_tasks = tasks_of(CUDA_STUB)
    assert [(task.number, task.line) for task in stub_tasks] == [(1, 9), (2, 14)]
    assert stub_tasks[1].text == "write the sum."


def test_the_todo_is_no_part_of_a_task_in_a_stub():
    assert tasks_of(stub_of(CUDA, ".cu"))[0].text == tasks_of(CUDA)[0].text


def test_without_region_takes_out_one_answer_and_leaves_the_others():
    text = without_region(CUDA, 1)
    assert "__syncthreads" not in text
    assert "sums[blockIdx.x] = tile[0];" in text
    ast.parse(without_region(PYTHON, 1))
    assert "return -(-n // block)" in without_region(PYTHON, 1)
    assert without_region(PYTHON, 2).count("NotImplementedError") == 1


def test_without_region_refuses_a_task_that_is_not_there():
    with pytest.raises(ValueError, match="there is no TASK 9 here"):
        without_region(CUDA, 9)


def test_one_task_may_have_two_regions():
    text = in_kernel(
        "    // TASK 1: first half.\n    y[0] = 1;\n    // END TASK\n"
        "    // TASK 1: second half.\n    y[1] = 1;\n    // END TASK\n"
    )
    assert "y[" not in without_region(text, 1)


@pytest.mark.parametrize(
    ("body", "line", "what"),
    [
        ("    // TASK 1: write.\n    y[0] = 1;\n", 3, "TASK 1 has no END TASK"),
        (
            "    // TASK 1: a.\n    y[0] = 1;\n    // TASK 2: b.\n    // END TASK\n",
            5,
            "begins inside TASK 1",
        ),
        ("    y[0] = 1;\n    // END TASK\n", 4, "closes no TASK"),
        ("    // TASK: write.\n    y[0] = 1;\n    // END TASK\n", 3, "has no number"),
        ("    // TASK 3\n    y[0] = 1;\n    // END TASK\n", 3, "has no number"),
        ("    // TASK 1: write.\n\ty[0] = 1;\n    // END TASK\n", 4, "tab"),
        ("    // TASK 1: write.\n\n    // END TASK\n", 3, "holds no line to write"),
        ("    if (n) {\n    // TASK 1: a.\n    }\n    // END TASK\n", 4, "braces"),
    ],
)
def test_a_region_that_cannot_be_cut_says_where_and_what_to_do(body, line, what):
    error = refused(in_kernel(body), ".cu")
    assert what in error.what
    assert error.line == line
    shown = error.shown("solutions/lesson_01/kernel.cu")
    assert shown.startswith(f"solutions/lesson_01/kernel.cu:{line}  ")
    assert len(shown.splitlines()) == 2


def test_a_cuda_region_outside_a_body_is_refused():
    error = refused("// TASK 1: a constant.\n#define N 4\n// END TASK\n", ".cu")
    assert "not inside a function body" in error.what


def test_a_python_region_outside_a_function_is_refused():
    error = refused("# TASK 1: a constant.\nN = 4\n# END TASK\n", ".py")
    assert "not inside a function body" in error.what


def test_a_python_region_that_takes_half_a_statement_is_refused():
    text = in_function(
        "    # TASK 1: a.\n    if n:\n        # END TASK\n        n = 1\n    return n\n"
    )
    assert "the stub would not parse" in refused(text, ".py").what


def test_a_task_line_that_is_not_indented_like_its_answer_is_refused():
    text = in_function(
        "    for i in n:\n    # TASK 1: a.\n        i += 1\n    # END TASK\n    return n\n"
    )
    assert "not indented like its answer" in refused(text, ".py").what


def test_a_solution_that_does_not_parse_is_refused_at_its_line():
    error = refused("def f(:\n", ".py")
    assert "the solution does not parse" in error.what
    assert error.line == 1
