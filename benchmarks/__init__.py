"""Benchmarks: what the environments cost, measured beside peers in one run."""
