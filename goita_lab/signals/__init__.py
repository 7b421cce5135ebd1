"""Measures what actions reveal to the partner and to the opponents, in nats and in points.

``playing`` plays rounds and records every decision in a play; ``log`` writes plays to Parquet and
reads them again; ``listening`` runs exact listeners along a play; ``measures`` has one function for
each measure; ``study`` takes all measures and ``page`` shows them. The command line is
``goita signals``.
"""
