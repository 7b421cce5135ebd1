"""Measures what actions tell the partner and the opponents, in nats and in points.

``playing`` has policies play and keeps every decision; ``log`` writes that to Parquet and reads it
again; ``measures`` has one function for each measure; ``report`` and ``follow`` show them. The
command line is ``python -m agents.signals``.
"""
