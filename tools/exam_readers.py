"""Notes in the shipped exam whose beliefs it keeps: ``python tools/exam_readers.py``.

The beliefs of each reader whose digest is another are computed again, and must be those in the
file. Then the file gets the digests of the readers as they are now. Needed when the source of a
reader was edited without a change of its play, such as a name or a comment.
"""

import numpy as np

from goita_agents import load_agent
from goita_lab.exam.answers import beliefs
from goita_lab.exam.questions import READERS, SHIPPED, Questions, reader_digest
from goita_lab.work import stderr_progress

TOLERANCE = 1e-6
"""The file has single precision."""


def main() -> None:
    questions = Questions.load()
    for place, reader in enumerate(READERS):
        if questions.kept(reader) is not None:
            continue
        again = beliefs(load_agent(reader), questions.view(), stderr_progress())
        apart = np.inf if again is None else np.abs(again - questions.read[:, place]).max()
        if not apart <= TOLERANCE:  # NaN is not
            raise SystemExit(f"{reader} believes something else, by up to {apart}: make the exam")
    digests = {reader: reader_digest(reader) for reader in READERS}
    questions.save(SHIPPED, dict(questions.about) | {"readers": digests})


if __name__ == "__main__":
    main()
