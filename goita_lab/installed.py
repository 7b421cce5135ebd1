"""Names the extra of the laboratory where it is missing; each package imports this first."""

from importlib.util import find_spec
from typing import Final

from goita_env.errors import install

NEEDED_MODULES: Final = ("msgspec", "scipy", "threadpoolctl", "rich", "jinja2")
"""Some of what the extra brings: it is there as a whole or not at all."""

for _name in NEEDED_MODULES:
    if find_spec(_name) is None:
        raise ModuleNotFoundError(f"goita_lab needs {_name!r}: {install('lab')}", name=_name)
