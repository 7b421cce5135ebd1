"""Games as videos, by gymnasium's own means: ``make test-frameworks``.

moviepy wants a Pillow older than the one of the other checks, so it stands in an environment of its
own; elsewhere this is skipped.
"""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo

import goita_env  # noqa: F401  (registers the environments)
from goita_env import goita_v0, uke_shogi_v0

moviepy = pytest.importorskip("moviepy", reason="needs moviepy, in an environment of its own")
pytestmark = pytest.mark.filterwarnings("ignore")  # of moviepy and what it reads


def frames(path: Path) -> list[np.ndarray]:
    """Reads the pictures of a video."""
    with moviepy.VideoFileClip(str(path)) as film:
        return list(film.iter_frames())


def check(path: Path, shown: list[np.ndarray]) -> None:
    """Compares a video with the pictures that it was made of."""
    read = frames(path)
    assert len(read) == len(shown)
    for one, other in zip(read, shown, strict=True):
        assert one.shape == other.shape == (600, 600, 3)
        assert np.abs(one.astype(int) - other).mean() < 6, "but for what the compression loses"
    assert any(not np.array_equal(shown[0], other) for other in shown[1:])


def test_gymnasiums_wrapper_records_one_seat(tmp_path):
    env = gymnasium.make("goita/Seat-v0", render_mode="rgb_array")
    film = RecordVideo(env, str(tmp_path), episode_trigger=lambda _: True, disable_logger=True)
    film.reset(seed=0)
    shown, done = [env.render()], False
    while not done:
        action = int(np.flatnonzero(env.get_wrapper_attr("action_masks")())[-1])
        done = film.step(action)[2]
        shown.append(env.render())
    film.close()
    check(tmp_path / "rl-video-episode-0.mp4", shown)


@pytest.mark.parametrize("module", [goita_v0, uke_shogi_v0])
def test_gymnasiums_writer_saves_what_the_pettingzoo_games_draw(tmp_path, module):
    from gymnasium.utils.save_video import save_video  # asks for moviepy at once

    env = module.env(render_mode="rgb_array")
    env.reset(seed=0)
    shown = []
    for _ in env.agent_iter(12):
        observation, _, terminated, _, _ = env.last()
        shown.append(env.render())
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated else int(legal[-1]))
    save_video(shown, str(tmp_path), lambda _: True, fps=env.metadata["render_fps"])
    check(tmp_path / "rl-video-episode-0.mp4", shown)
