"""From instructions to one Python function for each basic block."""
