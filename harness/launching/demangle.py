"""Itanium-mangled function types, as far as kernels' parameters need them.

`_Z16lesson_signatureIFvPKfPfiEEvv` is a template over `void(const float*, float*, int)`.
Substitutions (`S_`, `S0_`) count every class, pointer and qualified type met so far, in order.
"""

from dataclasses import dataclass, replace

_BUILTIN = {
    "v": "void",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "f": "float",
    "d": "double",
}


@dataclass(frozen=True, slots=True)
class CType:
    """A C++ type: a named one, or a pointer to another."""

    name: str  # "float", "__half", "" for a pointer
    pointee: "CType | None" = None
    const: bool = False
    reference: bool = False

    def __str__(self) -> str:
        if self.pointee is None:
            return f"const {self.name}" if self.const else self.name
        mark = "&" if self.reference else "*"
        return f"{self.pointee}{mark}" + (" const" if self.const else "")


class DemangleError(ValueError):
    """A construct that this small reader does not know."""


def parameter_types(mangled: str) -> tuple[CType, ...]:
    """The parameters of the function type that `lesson_signature` was instantiated with."""
    prefix = "_Z16lesson_signatureIF"
    if not mangled.startswith(prefix):
        raise DemangleError(mangled)
    reader = _Reader(mangled[len(prefix) :])
    reader.known.append(CType("lesson_signature"))
    reader.type()  # what the function returns
    parameters = []
    while not reader.take("E"):
        parameters.append(reader.type())
    return tuple(p for p in parameters if str(p) != "void")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.known: list[CType] = []  # what S_, S0_, S1_ … stand for

    def take(self, expected: str) -> bool:
        if not self.text.startswith(expected, self.position):
            return False
        self.position += len(expected)
        return True

    def next(self) -> str:
        if self.position >= len(self.text):
            raise DemangleError(self.text)
        self.position += 1
        return self.text[self.position - 1]

    def type(self) -> CType:
        letter = self.next()
        if letter in "rVK":
            return self._qualified(letter)
        if letter in "PRO":
            return self._remember(CType("", self.type(), reference=letter != "P"))
        if letter in _BUILTIN:
            return CType(_BUILTIN[letter])
        if letter == "S":
            return self._substitution()
        if letter == "A":
            self._until("_")
            return self._remember(replace(self.type()))
        self.position -= 1
        if letter == "N" or letter.isdigit():
            return self._named()
        raise DemangleError(f"{self.text} at {self.position}")

    def _qualified(self, letter: str) -> CType:
        qualifiers = letter
        while self.text[self.position] in "rVK":
            qualifiers += self.next()
        return self._remember(replace(self.type(), const="K" in qualifiers))

    def _named(self) -> CType:
        """`6__half`, `N1q1ZE`, `3VecIfLi4EE`: names, each a candidate for substitution."""
        nested = self.take("N")
        name = ""
        while True:
            if self.take("I"):
                self._arguments()
                name += "<…>"
            elif self.text[self.position].isdigit():
                name += ("::" if name else "") + self._identifier()
            elif nested and self.take("S"):
                name = "std" if self.take("t") else self._substitution().name
                continue  # what is known already is not remembered again
            else:
                raise DemangleError(self.text)
            named = self._remember(CType(name))
            if nested and self.take("E"):
                return named
            if not nested and self.text[self.position] != "I":
                return named

    def _identifier(self) -> str:
        digits = ""
        while self.text[self.position].isdigit():
            digits += self.next()
        end = self.position + int(digits)
        name, self.position = self.text[self.position : end], end
        return name

    def _arguments(self) -> None:
        while not self.take("E"):
            if self.take("L"):  # a literal: `Li4E`
                self._until("E")
            else:
                self.type()

    def _substitution(self) -> CType:
        if self.take("t"):
            return self._remember(CType("std::" + self._identifier()))
        digits = self._until("_")
        index = int(digits, 36) + 1 if digits else 0
        if index >= len(self.known):
            raise DemangleError(self.text)
        found = self.known[index]
        if self.position < len(self.text) and self.take("I"):
            self._arguments()
            return self._remember(CType(found.name + "<…>"))
        return found

    def _until(self, mark: str) -> str:
        end = self.text.find(mark, self.position)
        if end < 0:
            raise DemangleError(self.text)
        found, self.position = self.text[self.position : end], end + len(mark)
        return found

    def _remember(self, found: CType) -> CType:
        self.known.append(found)
        return found
