"""A data set loads by Hugging Face datasets and by Croissant's reader: ``make test-frameworks``.

Nothing is downloaded: what datasets would ask its hub for is switched off.
"""

import numpy as np
import pytest

from goita_lab.signals import dataset, log

datasets = pytest.importorskip("datasets", reason="needs datasets, in an environment of its own")
mlcroissant = pytest.importorskip("mlcroissant")
pytestmark = pytest.mark.filterwarnings("ignore")  # of what they read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    assert list(dataset.make(path, 60))[-1] == 60
    return path


@pytest.mark.parametrize("split", ["train", "validation"])
def test_datasets_loads_the_folder_by_its_card(folder, split, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    told = log.read(folder / split)
    options = {"split": split, "cache_dir": str(tmp_path)}
    found = datasets.load_dataset(str(folder), "decisions", **options).with_format("numpy")
    assert np.array_equal(found["action"][:], told.action)
    assert np.array_equal(np.stack(found["words"][:]), told.words)
    deals = datasets.load_dataset(str(folder), "deals", **options)
    assert len(deals) == len(told.round)


def test_croissant_describes_the_folder_without_an_issue(folder):
    described = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert not described.metadata.issues.errors
    assert not described.metadata.issues.warnings
    told = log.read(folder / "validation")
    rows = list(described.records(record_set="validation-decisions"))
    assert [row["validation-decisions/action"] for row in rows] == told.action.tolist()
    assert rows[-1]["validation-decisions/words"] == told.words[-1].tolist()
