"""Makes notebooks of the scripts in cells of ``examples/notebooks``, with what they print.

python tools/notebooks.py [NAME ...]           (needs the extras of the scripts)
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from cells import notebook  # noqa: E402  (after the path)

if __name__ == "__main__":
    names = sys.argv[1:] or ["*"]
    folder = ROOT / "examples" / "notebooks"
    scripts = {name: sorted(folder.glob(f"{name}.py")) for name in names}
    if missing := [name for name in names if not scripts[name]]:
        raise SystemExit(f"expected scripts in {folder}, got {' '.join(missing)}")
    for script in (script for name in names for script in scripts[name]):
        made = json.dumps(notebook(script), indent=1, ensure_ascii=False)
        script.with_suffix(".ipynb").write_text(f"{made}\n", encoding="utf-8")
        print(script.with_suffix(".ipynb").relative_to(ROOT))
