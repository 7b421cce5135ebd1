"""Renews the digests of the stored models in the shipped exam: ``python tools/exam_models.py``.

The beliefs of each model whose digest is another are computed again, and must be those in the file.
Then the file gets the digests of the models as they are now. Needed when the source of a model was
edited without a change of its play, such as a name or a comment.
"""

import numpy as np

from goita_agents import load_agent
from goita_lab.exam.answers import beliefs
from goita_lab.exam.questions import SHIPPED, STORED_MODELS, Questions, model_digest

TOLERANCE = 1e-6
"""The file has single precision."""


def main() -> None:
    questions = Questions.load()
    for place, model in enumerate(STORED_MODELS):
        if questions.stored_beliefs(model) is not None:
            continue
        again, _ = beliefs(load_agent(model), questions.view())
        apart = np.inf if again is None else np.abs(again - questions.modelled[:, place]).max()
        if not apart <= TOLERANCE:  # NaN is not
            raise SystemExit(f"{model} believes something else, by up to {apart}: make the exam")
    digests = {model: model_digest(model) for model in STORED_MODELS}
    questions.save(SHIPPED, dict(questions.about) | {"models": digests})


if __name__ == "__main__":
    main()
