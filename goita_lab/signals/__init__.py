"""Measures what actions tell the partner and the opponents, in nats and in points.

``playing`` plays rounds and keeps every decision; ``log`` writes that to Parquet and reads it
again; ``listening`` runs exact listeners along it; ``measures`` has one function for each measure;
``study`` takes them all, ``page`` shows them and ``follow`` follows a record. The command line is
``goita signals``.
"""

import goita_lab.installed  # noqa: F401
