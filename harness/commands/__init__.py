"""The `lesson` command."""
