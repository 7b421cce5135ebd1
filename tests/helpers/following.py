"""An agent that follows its games by the messages of the bot protocol."""

import json

import numpy as np

from goita_agents.base import RandomAgent, Results
from goita_agents.external import protocol
from goita_agents.external.protocol import EventMessages
from goita_agents.external.seat_table import SeatTable
from goita_env.views.observation import TABLE_ASKED_CALL, TABLE_WORD


class Follower(RandomAgent):
    """Plays at random, and compares each view with what its messages say."""

    def __init__(self):
        super().__init__()
        self.tables, self.known, self.compared, self.redeals = {}, {}, 0, 0

    def begin(self, games, seats, view):
        for row, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            deal = json.loads(protocol.encode(protocol.deal(game, seat, view, row)))
            self.tables[game] = SeatTable(view.rules, deal, view.information)
            self.known[game] = 0
            self.compare(view[row : row + 1], self.tables[game].view())

    def act(self, view, legal, rng):
        for row in range(len(view)):
            names = protocol.legal_names(legal[row])
            table = self.follow(view, row)
            asked = table.asked(np.flatnonzero(legal[row]).tolist())
            self.compare(view[row : row + 1], asked)
            assert protocol.legal_names(asked.legal()[0]) == names
        return super().act(view, legal, rng)

    def end(self, games, results, hands):
        for row in range(len(games)):
            table = self.follow(results.view, row)
            table.ends()
            self.compare(results.view[row : row + 1], table.view())

    def redeal(self, games, view):
        self.end(games, Results(None, None, view), None)
        self.redeals += len(games)

    def follow(self, view, row):
        game = int(view.game[row])
        table = self.tables[game]
        for message in EventMessages(view).since(row, table.seat, game, self.known[game]):
            table.happens(json.loads(protocol.encode(message)))
            self.known[game] += 1
        return table

    def compare(self, view, seen):
        words = view.words.copy()
        if not seen.asked_call[0]:
            words[:, TABLE_WORD] &= ~np.uint64(1 << TABLE_ASKED_CALL)
        assert seen.words.tolist() == words.tolist()
        assert (seen.game.tolist(), seen.rules) == (view.game.tolist(), view.rules)
        self.compared += 1
