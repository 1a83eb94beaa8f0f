"""Which lanes run next, and what their instructions do to memory and to each other."""
