"""Reads the body of one entry or function: registers, labels, lines, instructions."""

import re
from dataclasses import replace

from simulator.reading.cut import PtxError, split_operands, statements
from simulator.reading.lines import Locations
from simulator.reading.ptx import Guard, Instruction, Variable, declared_type
from simulator.reading.variables import parameters, variable

# A body that ends with an empty label: from there on the compiler holds the path impossible.
UNREACHABLE = "trap.unreachable"


class Body:
    """Reads the body of one entry or function, statement by statement."""

    def __init__(
        self,
        name: str,
        head: str,
        tail: str,
        body: str,
        outside: dict[str, Variable],
        locations: Locations,
        returns: str | None = None,
    ) -> None:
        """`returns` is what a function gives back, in brackets; None: an entry."""
        self.name = name
        self.parameters = parameters(head)
        self.returns = parameters(returns or "()")
        # `.param` variables that calls pass values in -> bytes; a launch passes an entry's own.
        self.passed = {p.name: p.bytes for p in (*self.returns, *self.parameters)}
        if returns is None:
            self.passed = {}
        bound = re.search(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", tail)
        self.maximum_threads = None
        if bound:
            x, y, z = (int(n or 1) for n in bound.groups())
            self.maximum_threads = x * y * z
        self.body = body
        self.names = set(re.findall(r"[\w$]+", body))
        self.outside = outside
        self.registers: dict[str, str] = {}
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.locations = locations
        self.line = locations.line
        self.scopes: list[int] = []
        self.opened = 0
        self.own: dict[str, Variable] = {}
        self.branches: list[tuple[int, tuple[int, ...]]] = []  # instructions inside scopes

    def read(self) -> "Body":
        for statement in statements(self.body):
            self._read(statement)
        for index, scopes in self.branches:
            self._aim(index, scopes)
        self._close()
        return self

    def register_type(self, register: str) -> str | None:
        return declared_type(self.registers, register)

    def _read(self, statement: str) -> None:
        while found := re.match(r"([\w$]+)\s*:\s*", statement):
            if statement[found.end() :].startswith((".callprototype", ".calltargets")):
                return  # it names a signature, no place: the code says the same
            name = f"{found[1]}@{self.scopes[-1]}" if self.scopes else found[1]
            self.labels[name] = len(self.instructions)
            statement = statement[found.end() :]
        if statement == "{":
            self.opened += 1
            self.scopes.append(self.opened)
        elif statement == "}":
            if self.scopes:
                self.scopes.pop()
        elif statement.startswith(".reg"):
            self._declare(statement)
        elif re.match(r"\.param\s", statement):
            for parameter in parameters(f"({statement})"):
                self.passed[self._scoped(parameter.name, declare=True)] = parameter.bytes
        elif re.match(r"\.loc\s", statement):
            self.line = self.locations.after(statement)
        elif statement.startswith("."):
            own = variable(statement)
            if own is not None:
                self.own[own.name] = own
        elif statement:
            self._instruction(statement)

    def _declare(self, statement: str) -> None:
        found = re.match(r"\.reg\s*\.(\w+)\s+(.*)", statement, re.S)
        if not found:
            raise PtxError(f"cannot read the declaration {statement!r}")
        for name in found[2].split(","):
            family = re.match(r"\s*(%?[\w$]+)<\d+>", name)
            if family:
                self.registers[family[1] + "<"] = found[1]
            else:
                self.registers[self._scoped(name.strip(), declare=True)] = found[1]

    def _scoped(self, name: str, declare: bool = False) -> str:
        """What is declared inside `{ }` gets the number of its scope: C@3."""
        for scope in reversed(self.scopes):
            scoped = f"{name}@{scope}"
            if declare or scoped in self.registers or scoped in self.passed:
                return scoped
        return name

    def _aim(self, index: int, scopes: tuple[int, ...]) -> None:
        """A branch inside `{ }` means the label of the innermost scope that has one of its name."""
        branch = self.instructions[index]
        for scope in reversed(scopes):
            label = f"{branch.operands[0]}@{scope}"
            if label in self.labels:
                self.instructions[index] = replace(branch, operands=(label,))
                return

    def _close(self) -> None:
        """Let an empty label at the end trap the lanes that come there, at the branch's line."""
        if not self.instructions:
            self.instructions.append(Instruction("ret", (), None, self.line, 0))
            return
        end = len(self.instructions)
        names = {name for name, place in self.labels.items() if place == end}
        aims = [i.line for i in self.instructions if names & set(i.operands)]
        last = self.instructions[-1]
        through = last.guard or last.parts[0] not in ("bra", "ret", "exit", "trap")
        if aims or (names and through):
            line = aims[0] if aims else self.line
            self.instructions.append(Instruction(UNREACHABLE, (), None, line, end))

    def _instruction(self, statement: str) -> None:
        guard = None
        found = re.match(r"@(!?)\s*(%?[\w$]+)\s+(.*)", statement, re.S)
        if found:
            guard = Guard(self._scoped(found[2]), found[1] == "!")
            statement = found[3]
        opcode, _, rest = re.sub(r"\s+", " ", statement).partition(" ")
        operands = split_operands(rest)
        if self.scopes:
            operands = tuple(
                re.sub(r"(?<![\w%$.@])%?[A-Za-z_$][\w$]*", lambda m: self._scoped(m[0]), o)
                for o in operands
            )
        index = len(self.instructions)
        if opcode.startswith("bra") and self.scopes:
            self.branches.append((index, tuple(self.scopes)))
        self.instructions.append(
            Instruction(opcode.replace("::cta", ""), operands, guard, self.line, index)
        )
