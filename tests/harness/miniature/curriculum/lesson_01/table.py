"""Supplied: where a sum starts."""

CARRY = 0
