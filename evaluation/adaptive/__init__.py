"""Attackers that see what the filter did to their attack and try again."""
