"""python -m tests.simulator.agreement: every counter that is not zero on both sides."""

from tests.simulator.agreement.cases import cases
from tests.simulator.agreement.comparing import COMMAND, HEADING, compared, is_recorded, recording


def main() -> None:
    if recording() is None:
        raise SystemExit(f"nothing is recorded yet; on a machine with a GPU and ncu: {COMMAND}")
    rows = [row for case in cases() if is_recorded(case) for row in compared(case)]
    print(HEADING)
    for row in rows:
        if row.ours or row.theirs:
            print(row)
    agree = {row.case.name for row in rows} - {row.case.name for row in rows if not row.equal}
    print(
        f"{len(rows)} integers of {len(cases())} cases on {recording()['device']}: "
        f"{sum(row.equal for row in rows)} are equal, {len(agree)} cases agree in all of theirs"
    )


if __name__ == "__main__":
    main()
