"""The true answers, by subject, and the figures that lessons share; imports torch alone."""
