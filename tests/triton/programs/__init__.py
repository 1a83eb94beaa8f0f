"""Small Triton kernels, right and wrong, and what must be said of each: see README.md."""
