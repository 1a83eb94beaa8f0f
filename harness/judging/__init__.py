"""Whether an answer is right: oracles, tolerances, poison, profiles, and what a mismatch says."""
