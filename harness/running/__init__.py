"""One run of pytest: what was asked, whether it may run, on what, and what came of it."""
