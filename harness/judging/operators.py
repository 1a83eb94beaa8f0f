"""Watching which operators torch is asked for, without what torch.compile would import for it."""

from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch does not type it
    """A dispatch mode that leaves torch.compile alone."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare each run the two seconds that importing torch.compile takes."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """torch.compile works as if this mode were not there."""
        return True


class Operators(Watch):
    """Remembers the names of the operators that torch is asked for while it is entered.

    names  without namespace and overload: "empty_like", "add_"
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    def __torch_dispatch__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        packet = getattr(function, "overloadpacket", function)
        self.names.add(getattr(packet, "__name__", str(packet)))
        return function(*args, **(kwargs or {}))
