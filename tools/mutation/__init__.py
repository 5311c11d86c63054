"""Mutants: small faults that tools/mutate puts into a copy of the source, one at a time, to see whether a test fails."""
