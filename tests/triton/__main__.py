"""python -m tests.triton: every counter that is not zero on both sides."""

from tests.triton.measured import COMMAND, HEADING, RECORDING, recording, rows, stored_cases


def main() -> None:
    if not RECORDING.exists():
        raise SystemExit(f"nothing is recorded yet; on a machine with a GPU and ncu: {COMMAND}")
    every = [row for case in stored_cases() for row in rows(case)]
    print(HEADING)
    for row in every:
        if row.ours or row.theirs:
            print(row)
    agree = {row.case for row in every} - {row.case for row in every if not row.equal}
    print(
        f"{len(every)} integers of {len(stored_cases())} cases on {recording()['device']}: "
        f"{sum(row.equal for row in every)} are equal, {len(agree)} cases agree in all of theirs"
    )


if __name__ == "__main__":
    main()
