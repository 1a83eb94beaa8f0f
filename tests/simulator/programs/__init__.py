"""Small named kernels, right and wrong, and what the simulator must say of each."""
