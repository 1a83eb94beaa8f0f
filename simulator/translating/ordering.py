"""The order of basic blocks that lets diverged lanes meet again soonest.

Blocks are numbered in a topological order of the strongly connected components of the control
flow graph, each loop opened in turn, so that every loop is contiguous. The machine always runs
the lowest-numbered block that has lanes ready: diverged lanes then meet at the first block that
both reach ("thread frontiers", Diamos et al., MICRO 2011).
"""

from collections.abc import Callable


def ordered_with_loops(successors: list[list[int]]) -> tuple[list[int], dict[int, list[int]]]:
    """(the order of the blocks, each loop header with the blocks of its loop); 0 is the first."""
    order: list[int] = []
    loops: dict[int, list[int]] = {}

    def arrange(nodes: set[int], entries: list[int]) -> None:
        def following(n: int) -> list[int]:
            return [s for s in successors[n] if s in nodes]

        for component in _components(sorted(nodes), entries, following):
            members = set(component)
            if len(members) == 1 and component[0] not in following(component[0]):
                order.append(component[0])
                continue
            entered = [
                n
                for n in component
                if n in entries
                or any(n in successors[p] for p in range(len(successors)) if p not in members)
            ]
            header = min(entered or component)
            loops[header] = component
            order.append(header)
            rest = members - {header}
            if rest:
                arrange(rest, [s for s in successors[header] if s in rest])

    arrange(set(range(len(successors))), [0])
    return order, loops


def _components(
    nodes: list[int], entries: list[int], following: Callable[[int], list[int]]
) -> list[list[int]]:
    """Strongly connected components in topological order (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def visit(root: int) -> None:
        work = [(root, iter(following(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(following(successor))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)

    for root in (*entries, *nodes):
        if root not in index:
            visit(root)
    return found[::-1]
