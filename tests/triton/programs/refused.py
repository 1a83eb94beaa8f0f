"""The kernels that Triton's compiler refuses, each with what its report must say and advise.

The line of the mistake ends in `# error`; a call that leads to it in `# called`.
"""

REFUSED: dict[str, tuple[object, str, str]] = {}


def refused(what, advice=""):
    """what: in the report's first line; advice: behind "try"."""

    def note(kernel):
        REFUSED[kernel.fn.__name__] = (kernel, what, advice)
        return kernel

    return note
