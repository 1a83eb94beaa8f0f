"""PTX text to data: entries, instructions, variables."""
