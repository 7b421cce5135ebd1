"""Lets any program play, and our bots play elsewhere: ``python -m agents.external NAME``."""
