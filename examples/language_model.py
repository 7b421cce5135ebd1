"""Plays with a language model, by any server that speaks OpenAI's protocol for chats.

pip install openai
goita evaluate --deals 5 --agents random \
    examples.language_model:LanguageModel:model=NAME,base=https://HOST/v1,key=NAME_OF_VARIABLE

Every answer is stored in an SQLite file before it is used, so a tournament that was killed and runs
again repeats no request. ``key`` names the environment variable with the key of the server, and no
file ever holds the key itself.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from typing import Any

import numpy as np
import openai

from goita_agents.base import AgentError
from goita_env import InformationStructure, View, text

ASK = "Which action do you choose? End your answer with its code in square brackets."
EXAMPLE = (("user", f"Legal actions: p 13 16\n{ASK}"), ("assistant", "I choose [13]."))
AGAIN = "There is no legal action in the last square brackets. Choose one of these codes: {codes}"
BELIEFS = """How likely is it that each other player has at least one tile of each kind, in hand or
face down? End your answer with three pairs of square brackets, for next, partner and previous, and
in each eight numbers from 0 to 1, for the kinds 1 to 8."""
TABLE = """CREATE TABLE IF NOT EXISTS answers (sent, game, seat, decision, attempt, answer TEXT,
PRIMARY KEY (sent, game, seat, decision, attempt))"""

Messages = list[dict[str, str]]


class LanguageModel:
    """A language model as an agent; an AgentError if the variable of the key is not set.

    Args:
        model, base: its name on the server, and the server's address, up to "/v1".
        key: name of the environment variable with the key; empty: no key.
        answers: the SQLite file.
        parallel, timeout: most requests at once, and seconds that each may take.
        tokens, temperature: of an answer; below 0: the server's temperature.
        deduced: give the model the facts that follow for certain.
        example: show an answer first, so that weak models answer in the right form.
    """

    def __init__(
        self,
        model: str,
        base: str = "https://api.openai.com/v1",
        key: str = "",
        answers: str = "language_model.sqlite",
        parallel: int = 8,
        timeout: float = 120.0,
        tokens: int = 2000,
        temperature: float = -1.0,
        deduced: bool = True,
        example: bool = True,
    ) -> None:
        if key and not os.environ.get(key):
            raise AgentError(f"expected a key in the environment variable {key!r}, got none")
        secret = os.environ[key] if key else "none"
        # After an error of the server or a time-out the client waits and tries once more.
        self.client = openai.OpenAI(base_url=base, api_key=secret, timeout=timeout, max_retries=1)
        self.pool = ThreadPoolExecutor(parallel)
        self.outputs = (answers,)  # changes during play, so it is no part of the agent's identity
        self.base, self.file, self.deduced, self.shots = base, answers, deduced, 2 * example
        self.options: dict[str, Any] = {"model": model, "max_completion_tokens": tokens}
        self.options |= {"temperature": temperature} if temperature >= 0 else {}
        with closing(sqlite3.connect(self.file, timeout=60)) as store, store:
            store.execute(TABLE)

    def act(self, view: View, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Returns an action for each position, -1, a fault, without one: int [N]."""
        chosen = [action for action, _ in self._choose(view, legal)]
        return np.array([-1 if action is None else action for action in chosen])

    def beliefs(self, view: View) -> np.ndarray:
        """Asks after the action how likely seats have at least one of each kind, not face up.

        Returns:
            float64 [N, 3, 8] for next, partner and previous; 0.5 where the answer has no numbers.
        """
        chosen, nothing = self._choose(view, view.legal()), np.full((3, 8), 0.5)

        def ask(n: int, where: list[int]) -> np.ndarray:
            _, messages = chosen[n]
            if not messages:
                return nothing
            messages = [*messages, {"role": "user", "content": BELIEFS}]
            belief, _ = self._chat(where, messages, read_beliefs, BELIEFS)
            return nothing if belief is None else belief

        return np.stack(self._each(view, ask, nothing))

    def plays(self, information: InformationStructure) -> bool:
        """Returns True: any game, since the text holds all that a seat sees."""
        return True

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
        self.client.close()

    def _choose(self, view: View, legal: np.ndarray) -> list[tuple[int | None, Messages]]:
        """Returns each position's action, None without one, and the messages of the chat."""
        positions = text.describe(view, legal, deduced=self.deduced)
        first = [{"role": "system", "content": text.rules(view.rules)}]
        first += [{"role": role, "content": content} for role, content in EXAMPLE[: self.shots]]

        def ask(n: int, where: list[int]) -> tuple[int | None, Messages]:
            messages = [*first, {"role": "user", "content": f"{positions[n]}\n{ASK}"}]
            again = AGAIN.format(codes=positions[n].rpartition(": ")[2])
            return self._chat(where, messages, lambda answer: text.parse(answer, legal[n]), again)

        return self._each(view, ask, (None, []))

    def _each(self, view: View, ask: Callable[[int, list[int]], Any], nothing: Any) -> list[Any]:
        """Asks for all positions in parallel; ``nothing`` where the server has not answered."""
        # The deal, the seat (from the dealer on) and the decision of each position.
        places = np.stack((view.game, -view.dealer % 4, view.decisions().length), axis=1).tolist()

        def answered(n: int) -> Any:
            try:
                return ask(n, places[n])
            except ConnectionError as error:
                return error

        answers = list(self.pool.map(answered, range(len(view))))
        failed = [answer for answer in answers if isinstance(answer, ConnectionError)]
        if failed and len(failed) == len(answers):
            raise AgentError(f"expected answers from {self.base}, got {failed[0]}")
        return [nothing if isinstance(answer, ConnectionError) else answer for answer in answers]

    def _chat(
        self, where: list[int], messages: Messages, read: Callable[[str], Any], again: str
    ) -> tuple[Any, Messages]:
        """Asks, twice if ``read`` returns None; returns its value and the messages of the chat."""
        for attempt in range(2):
            if attempt:
                messages = [*messages, {"role": "user", "content": again}]
            answer = self._answer([*where, attempt], messages)
            messages = [*messages, {"role": "assistant", "content": answer}]
            if (value := read(answer)) is not None:
                break
        return value, messages

    def _answer(self, where: list[int], messages: Messages) -> str:
        """Returns the answer in the file; else asks for one and writes it there first."""
        sent = self.options | {"messages": messages}
        key = (sha256(json.dumps([self.base, sent], sort_keys=True).encode()).hexdigest(), *where)
        with closing(sqlite3.connect(self.file, timeout=60)) as store:
            select = "SELECT answer FROM answers WHERE (sent, game, seat, decision, attempt) = "
            if row := store.execute(select + "(?, ?, ?, ?, ?)", key).fetchone():
                return str(row[0])
        try:
            reply = self.client.chat.completions.create(**sent)
            answer = str(reply.choices[0].message.content or "")
            answer = answer.encode(errors="replace").decode()  # the file has no half characters
        except Exception as error:  # of any kind; its text may repeat the key
            raise ConnectionError(type(error).__name__) from None
        with closing(sqlite3.connect(self.file, timeout=60)) as store, store:
            store.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*key, answer))
        return answer


def read_beliefs(answer: str) -> np.ndarray | None:
    """Returns the numbers in the last three pairs of square brackets, [3, 8], None without them."""
    groups = [group.replace(",", " ").split() for group in re.findall(r"\[([^\[\]]*)\]", answer)]
    try:
        numbers = np.array(groups[-3:], float)
    except ValueError:
        return None
    fine = numbers.shape == (3, 8) and ((numbers >= 0) & (numbers <= 1)).all()
    return numbers if fine else None
