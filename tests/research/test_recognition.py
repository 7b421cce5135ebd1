"""What a library gains in a match: the rounds that are counted."""

from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import tasks
from research.players import recognition


def test_the_rounds_of_matches_add_up_to_what_the_tournament_counts():
    (task,) = tasks(("greedy", "random"), 3, seed=1, episode="match")
    matches = recognition.play(task)
    block = play_block(task)
    points = [sum(gained for _, gained in match) for match in matches]
    assert points == block.points.sum(axis=0).tolist()
    assert [len(match) for match in matches] == block.rounds.sum(axis=0).tolist()
    assert {index for match in matches for index, _ in match} == {*range(1, block.rounds.max() + 1)}
