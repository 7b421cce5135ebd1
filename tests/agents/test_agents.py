"""What the bots play: greedy against its rules read out one by one, and how agents are loaded."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import AgentError, load_agent, names, registry
from agents.base import Agent, Policy, certain, sample
from agents.tournament import arena
from agents.tournament.summary import Summary
from goita_env import GoitaVectorEnv, View, actions
from goita_env.engine.tables import CALL_CHOICE, CODE_MASK, RADIX
from goita_env.rules import RULE_SETS
from goita_env.views import asked_view, from_observation

ROOT = Path(__file__).resolve().parents[2]

POINTS = [10, 20, 20, 30, 30, 40, 40, 50]
KING = 7


def rng():
    return np.random.default_rng(0)


# ------------------------------------------------------------------- greedy, read out rule by rule


def count(hand, kind):
    return sum(1 for tile in hand if tile == kind)


def score(rules, block, attack, face_down):
    """Points of a last pair, as a player adds them up."""
    alike = block == attack and not (block == KING and rules.name == "nine")
    return POINTS[attack] * 2 if face_down and alike else POINTS[attack]


def cheapest(kinds):
    best = None
    for kind in sorted(kinds):
        if best is None or POINTS[kind] < POINTS[best]:
            best = kind
    return best


def by_the_rules(rules, hand, legal, attack, attacker):
    """The action of the six rules for one hand (kinds), with the name of the rule that chose it."""
    if actions.CALL in legal:
        return actions.CALL, "call"
    if actions.REDEAL in legal:
        return (actions.CONTINUE, "continue") if KING in hand else (actions.REDEAL, "redeal")
    pairs = [actions.decode(action) for action in sorted(legal) if action != actions.PASS]
    if not pairs:
        return actions.PASS, "must pass"
    leads = actions.PASS not in legal
    if len(hand) == 2:
        points = [score(rules, block, new, leads) for block, new in pairs]
        block, new = pairs[points.index(max(points))]
        return actions.encode(block, new), "partner's last" if attacker == 2 else "last"
    if not leads and attacker == 2:
        return actions.PASS, "partner's attack"
    if leads:
        single = [kind for kind in set(hand) if count(hand, kind) == 1 and kind != KING]
        others = [kind for kind in set(hand) if kind != KING]
        block, rule = cheapest(single or others or [KING]), "single" if single else "no single"
    else:
        own = [block for block, _ in pairs if block == attack]
        block, rule = (attack, "own kind") if own else (KING, "king")
    left = list(hand)
    left.remove(block)
    best = None
    for new in sorted(new for first, new in pairs if first == block and new != KING):
        worth = (count(left, new), POINTS[new])
        if best is None or worth > (count(left, best), POINTS[best]):
            best = new
    return actions.encode(block, KING if best is None else best), rule


@pytest.mark.parametrize("name", RULE_SETS)
def test_greedy_follows_its_six_rules_in_thousands_of_decisions(name):
    greedy, draws, seen = load_agent("greedy"), rng(), {}
    env = GoitaVectorEnv(512, rules=name, seed=3, observe=False)
    turn = env.reset()
    for _ in range(60):
        view, legal = turn.view, turn.action_mask
        chosen = greedy.act(view, legal, draws)
        fields = zip(view.hand, view.attack, view.attacker, legal, chosen, strict=True)
        for counts, attack, attacker, mask, action in fields:
            hand = [kind for kind in range(8) for _ in range(counts[kind])]
            wanted, rule = by_the_rules(
                env._match.rules, hand, set(np.flatnonzero(mask)), attack, attacker
            )
            assert action == wanted, (rule, hand, attack, attacker)
            seen[rule] = seen.get(rule, 0) + 1
        mixed = np.where(draws.random(512) < 0.7, chosen, env.sample_legal(draws))
        turn = env.step(mixed)
    every = {"call", "continue", "redeal", "last", "partner's last", "partner's attack"}
    every |= {"single", "no single", "own kind", "king", "must pass"}
    assert set(seen) == every
    assert min(seen.values()) >= 5, seen


def play(hands, *moves):
    """Greedy's answer, by its short name, after some moves of a deal that seat 0 deals."""
    kinds = np.array([[[int(digit) - 1 for digit in hand] for hand in hands]])
    env = GoitaVectorEnv(1)
    turn = env.reset(hands=kinds, dealer=np.array([0]))
    for move in moves:
        turn = env.step([actions.parse(move)])
    return actions.name(int(load_agent("greedy").act(turn.view, turn.action_mask, rng())[0]))


FIVE = ["11111234", "11123456", "11234567", "23455788"]


def test_greedy_calls_five_pawns_and_as_partner_redeals_without_a_king():
    assert play(FIVE) == "call"
    assert play(FIVE, "call") == "redeal"


def test_greedy_continues_as_a_partner_who_holds_a_king():
    assert play([FIVE[0], FIVE[1], FIVE[3], FIVE[2]], "call") == "continue"


PLAIN = ["11233568", "11134447", "11223478", "11125556"]


def test_greedy_lays_its_cheapest_single_tile_and_attacks_with_what_it_has_most_of():
    # Singles: lance, gold, bishop, king. Then two pawns, two knights: the knights score more.
    assert play(PLAIN) == "23"


def test_greedy_receives_an_opponent_and_attacks_with_what_it_has_most_of():
    # The one knight blocks; of three pawns and three silvers the silvers score more.
    assert play(PLAIN, "23") == "34"


def test_greedy_leaves_its_partners_attack_alone():
    assert play(PLAIN, "23", "p") == "p"


# --------------------------------------------------------------------------------- both bots


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_an_agent_answers_the_same_from_an_observation_as_from_a_view(name):
    agent = load_agent(name)
    turn = GoitaVectorEnv(64, seed=1).reset()
    rebuilt = from_observation(turn.observation)
    first, second = (agent.act(v, turn.action_mask, rng()) for v in (turn.view, rebuilt))
    assert (first == second).all()


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_an_agent_answers_the_same_row_by_row_as_in_one_batch(name):
    agent = load_agent(name)
    for turn in positions():
        whole = agent.act(turn.view, turn.action_mask, rng())
        draws = rng()
        rows = [slice(i, i + 1) for i in range(64)]
        alone = [agent.act(turn.view[row], turn.action_mask[row], draws) for row in rows]
        assert (whole == np.concatenate(alone)).all()


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_probabilities_sum_to_one_over_legal_actions(name):
    agent = load_agent(name)
    assert isinstance(agent, Policy)
    for turn in positions():
        probabilities = agent.probabilities(turn.view, turn.action_mask)
        assert probabilities.dtype == np.float64
        assert np.allclose(probabilities.sum(axis=1), 1)
        assert not probabilities[~turn.action_mask].any()
        chosen = agent.act(turn.view, turn.action_mask, rng())
        assert (probabilities[np.arange(64), chosen] > 0).all()
        assert chosen.dtype == np.int64


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_no_agent_is_moved_by_tiles_it_cannot_see(name):
    agent, draws, changed = load_agent(name), rng(), 0
    for turn in positions():
        legal, state = turn.action_mask, turn._env._match.state
        other = state.copy()
        redraw_others_hands(other, draws)
        changed += (other.data != state.data).any(axis=0).sum()
        first = agent.act(asked_view(state), legal, rng())
        assert (first == agent.act(asked_view(other), legal, rng())).all()
    assert changed > 1000


def redraw_others_hands(state, draws):
    """Mixes the tiles in the hands of the three seats that are not asked, where play is on."""
    others = [slot for slot in range(4) if slot != state.clock]
    counts = state.hand[others] & CODE_MASK
    for game in np.flatnonzero(state.status < CALL_CHOICE):
        hands = [tiles(code) for code in counts[:, game]]
        mixed = draws.permutation(np.concatenate(hands))
        parts = np.split(mixed, np.cumsum([len(hand) for hand in hands])[:-1])
        for slot, part in zip(others, parts, strict=True):
            state.hand[slot, game] = sum(RADIX[kind] for kind in part)


def tiles(code):
    """The kinds of a code's tiles."""
    limits = [*RADIX[1:], RADIX[-1] * 3]
    digits = [code % limit // radix for radix, limit in zip(RADIX, limits, strict=True)]
    return np.repeat(np.arange(8), digits)


def positions():
    """Forty turns of 64 games at random play."""
    env, draws = GoitaVectorEnv(64, seed=2), rng()
    turn = env.reset()
    for _ in range(40):
        yield turn
        turn = env.step(env.sample_legal(draws))


def test_random_plays_every_legal_action_equally_often():
    turn = GoitaVectorEnv(1, seed=0).reset()
    rows = np.zeros(20_000, int)
    drawn = load_agent("random").act(turn.view[rows], turn.action_mask[rows], rng())
    legal = np.flatnonzero(turn.action_mask[0])
    expected = len(rows) / len(legal)
    frequency = np.bincount(drawn, minlength=69)
    assert frequency[legal].sum() == len(rows)
    assert (abs(frequency[legal] - expected) < 5 * np.sqrt(expected)).all()


def test_sampling_never_draws_what_has_no_probability():
    class Extreme:
        def __init__(self, value):
            self.value = value

        def random(self, size):
            return np.full(size, self.value)

    scale = np.array([1e-300, 0.1, 0.3, 1.0, 1 + 1e-9, 3.0, 1e300])
    probabilities = np.zeros((len(scale), 69))
    probabilities[:, [3, 40, 67]] = scale[:, None] * [0.2, 0.5, 0.3]
    assert (sample(probabilities, Extreme(0.0)) == 3).all()
    assert (sample(probabilities, Extreme(1 - 2**-53)) == 67).all()


def test_a_certain_policy_draws_its_action():
    chosen = np.array([0, 5, 68])
    assert (sample(certain(chosen), rng()) == chosen).all()


def test_greedy_beats_random_by_sixteen_points_a_round():
    result = arena.play_pair("greedy", "random", 4000, seed=1)
    assert result.ci95[0] > 16, result


# -------------------------------------------------------------------------------------- loading


class Tunable:
    """An agent with an option of every type."""

    def __init__(self, base: Agent, worlds: int = 8, depth: float = 1.5, search: bool = False):
        self.name = "tunable"
        self.options = (base, worlds, depth, search)

    def act(self, view: View, legal, rng):
        return self.options[0].act(view, legal, rng)


@pytest.fixture
def tunable(monkeypatch):
    monkeypatch.setitem(registry.AGENTS, "tunable", registry.Entry(__name__, "Tunable"))


def test_an_agent_is_named_after_the_text_it_was_built_from(tunable):
    for text in ("random", "greedy", "tunable:base=greedy"):
        assert load_agent(text).name == text


def test_options_are_read_by_their_types_and_may_be_agents_themselves(tunable):
    agent = load_agent("tunable:base=(tunable:base=random,worlds=2),worlds=16,search=on")
    base, *rest = agent.options
    assert rest == [16, 1.5, True]
    assert base.options[1] == 2
    assert base.options[0].name == "random"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gredy", "expected an agent of random, "),
        ("", "expected an agent of random, "),
        ("greedy:", "after the colon"),
        ("greedy:depth=3", "takes no options"),
        ("file", "file:PATH"),
        ("file:", "file:PATH"),
        ("file:no/such/file", "no/such/file"),
        ("tunable", "none for ['base']"),
        ("tunable:base=greedy,wolds=3", "worlds=8"),
        ("tunable:base=greedy,worlds", "worlds=8"),
        ("tunable:base=greedy,worlds=many", "worlds=int"),
        ("tunable:base=greedy,search=perhaps", "search=bool"),
        ("tunable:base=greedy,worlds=1,worlds=2", "twice"),
        ("tunable:base=gredy", "expected an agent of random, "),
    ],
)
def test_a_wrong_text_says_what_there_is(tunable, text, words):
    with pytest.raises(AgentError) as caught:
        load_agent(text)
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_an_object_that_is_an_agent_is_handed_back_and_others_are_refused():
    agent = load_agent("greedy")
    assert load_agent(agent) is agent
    with pytest.raises(AgentError, match="object"):
        load_agent(17)


# --------------------------------------------------------------- classes of one's own, short names

MY_BOTS = """
import numpy as np

class Cautious:
    name = "cautious"

    def __init__(self, risk: float = 0.5, word="none", **more):
        self.risk, self.word = risk, word

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

class Bare:
    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

class Inner:
    class Deep(Bare):
        pass

class Idle:
    pass

NOTHING = None
"""


@pytest.fixture
def my_bots(monkeypatch, tmp_path):
    """A module in the working directory, gone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_bots.py").write_text(MY_BOTS)
    (tmp_path / "broken_bots.py").write_text("import no_such_library\n")
    yield tmp_path
    for name in ("my_bots", "broken_bots"):
        sys.modules.pop(name, None)


def test_a_class_of_ones_own_is_named_by_module_and_class(my_bots):
    agent = load_agent("my_bots:Cautious:risk=0.2,word=a:b=c")
    assert (agent.risk, agent.word) == (0.2, "a:b=c")
    assert agent.name == "my_bots:Cautious:risk=0.2,word=a:b=c"
    assert load_agent("my_bots:Bare").name == "my_bots:Bare"
    assert load_agent("my_bots:Inner.Deep").name == "my_bots:Inner.Deep"
    assert arena.play_pair("my_bots:Cautious", "random", 4).a == "my_bots:Cautious"
    base = load_agent("rollout:base=(my_bots:Cautious:risk=0.1),weight=uniform")
    assert base.name.startswith("rollout:")


def test_a_registered_name_wins_over_a_module(my_bots):
    (my_bots / "greedy.py").write_text(MY_BOTS)
    with pytest.raises(AgentError, match="takes no options"):
        load_agent("greedy:Cautious")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("my_bots:Reckless", "has no attribute 'Reckless'"),
        ("my_bots:Cautious:", "after the colon"),
        ("my_bots:Cautious:rsk=0.2", "risk=0.5, word=none"),
        ("my_bots:Cautious:risk=high", "risk=float"),
        ("my_bots:Bare:risk=0.2", "takes no options"),
        ("my_bots:Idle", "check_agent"),
        ("my_bots:NOTHING", "got None"),
        ("your_bots:Cautious", "no module 'your_bots' in"),
        ("your_bots:Cautious", "expected an agent of random, "),
        ("my_bots.deeper:Cautious", "my_bots"),
        ("broken_bots:Bot", "No module named 'no_such_library'"),
    ],
)
def test_a_class_that_is_not_there_or_no_agent_is_refused(my_bots, text, words):
    with pytest.raises(AgentError) as caught:
        load_agent(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("heuristic", "mine=heuristic:conventions=off", "champion:search=on,worlds=8"),
        "rollout:base=(heuristic:reading=off),worlds=3",
    ],
)
def test_a_file_may_name_the_agents_of_this_repository(text):
    assert registry.check_shipped(text, "match.json") == text


@pytest.mark.parametrize(
    "text",
    [
        *("file:policy.safetensors", "exec:id", "exec:[shell=on]id > PWNED; cat", "x=exec:id"),
        *("subprocess:Popen:args=id", "x=subprocess:Popen", "os:system", "rollout:base=(exec:id)"),
        *("rollout:base=file:policy.safetensors", "rollout:base=(os:system)", "", "nobody"),
        "rollout:base=(rollout:base=(x=exec:id))",
    ],
)
def test_a_file_may_not_name_paths_commands_or_classes(text):
    with pytest.raises(AgentError, match=r"match\.json"):
        registry.check_shipped(text, "match.json")


def test_the_source_of_a_class_of_ones_own_has_a_hash(my_bots):
    found = registry.source_hash("mine=my_bots:Cautious:risk=0.2")
    assert found == sha256(MY_BOTS.encode()).hexdigest()
    assert registry.source_hash("rollout:base=(my_bots:Cautious:risk=0.2)") == found
    assert registry.source_hash("my_bots:Cautious:word=a:b") == found
    assert registry.source_hash("rollout:base=greedy") is None
    assert registry.source_hash("greedy") is None
    assert registry.source_hash("exec:true") is None


@pytest.mark.parametrize(
    ("spec", "own"),
    [
        *(("greedy", False), ("exec:python -m my:Bot", False), ("file:a:B", False)),
        *(("rollout:base=greedy,worlds=3", False), ("x=champion:search=on", False)),
        *(("never_here:Bot", True), ("x=never_here:Bot:word=a:b", True)),
        *(("rollout:base=(never_here:Bot:a=1)", True), ("rollout:base=(y=never_here:Bot)", True)),
        ("rollout:worlds=3,base=(rollout:base=never_here:Bot)", True),
    ],
)
def test_a_class_of_ones_own_is_known_by_its_text_alone(spec, own):
    assert registry.is_own(spec) is own  # there is no such module that could be imported


def test_a_text_that_names_no_agent_is_nobodys_own():
    with pytest.raises(AgentError, match="expected an agent of"):
        registry.is_own("nobody")


def test_the_content_of_an_agent_is_the_hash_of_all_files_of_ones_own(my_bots, tmp_path):
    network, other = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    network.write_bytes(b"weights")
    other.write_bytes(b"others")
    found = registry.content_hash(f"x=file:{network},temperature=1")
    assert found == sha256(b"weights").hexdigest()
    assert registry.content_hash(f"rollout:base=(file:{network}),worlds=4") == found
    assert registry.content_hash(f"rollout:base=(file:{other}),worlds=4") != found
    source = registry.source_hash("my_bots:Cautious")
    assert registry.content_hash("mine=my_bots:Cautious:risk=0.2") == source
    assert registry.content_hash("rollout:base=greedy") is None
    assert registry.content_hash("exec:true") is None
    with pytest.raises(FileNotFoundError):
        registry.content_hash("file:no/such/file")


def test_results_carry_the_hash_of_the_source_and_go_on_with_the_same_alone(my_bots):
    def plan():
        return arena.Plan(("my_bots:Cautious", "greedy"), deals=4)

    before = plan().arguments()
    assert list(before["sources"]) == ["my_bots:Cautious"]
    (my_bots / "my_bots.py").write_text(MY_BOTS + "# changed\n")
    assert plan().arguments() != before
    assert "sources" not in arena.Plan(("random", "greedy"), deals=4).arguments()


def test_workers_find_a_class_in_the_working_directory(my_bots):
    plan = arena.Plan(("mine=my_bots:Cautious", "random"), deals=8, block_deals=4)
    tournament = arena.Tournament(plan)
    tournament.play(workers=2)
    assert [played.pairing.agents for played in tournament.played()] == [("mine", "random")]


def test_the_script_finds_a_class_in_the_working_directory(my_bots):
    command = [sys.executable, str(ROOT / "evaluate.py"), "--agents", "my_bots:Bare", "random"]
    done = subprocess.run(
        [*command, "--deals", "4"], cwd=my_bots, capture_output=True, text=True, check=True
    )
    assert "my_bots:Bare" in done.stdout


def test_a_short_name_is_what_results_show_and_workers_build_from_the_whole_text():
    agent = load_agent("mine=heuristic:reading=off")
    assert agent.name == "mine"
    assert load_agent("heuristic:reading=off").name == "heuristic:reading=off"
    plan = arena.Plan(("m.1-a_b=greedy", "random"), deals=4, caps=((2, "m.1-a_b"),))
    assert plan.names == ["m.1-a_b", "random"]
    assert plan.arguments()["agents"] == ["m.1-a_b=greedy", "random"]
    tournament = arena.Tournament(plan)
    assert {task.agents for task in tournament.tasks()} == {("m.1-a_b=greedy", "random")}
    tournament.play()
    found = Summary.of(plan, tournament.played()).to_json()
    assert list(found["agents"]) == ["m.1-a_b", "random"]
    assert [(pair["a"], pair["b"], pair["deals"]) for pair in found["pairs"]] == [
        ("m.1-a_b", "random", 2)
    ]


def test_a_short_name_names_the_opponent_of_cross_play_too():
    plan = arena.Plan(("m=greedy", "random"), deals=4, cross=True, cross_opponent="m")
    assert (plan.opponent, plan.names) == ("m", ["m", "random"])
    crossed = [one for one in plan.pairings() if one.is_cross]
    assert [one.tasks[0].agents[2] for one in crossed] == ["m=greedy"] * 3


def test_two_agents_of_one_name_are_refused():
    for pair in (("m=greedy", "m=random"), ("greedy", "greedy=random")):
        with pytest.raises(AgentError, match=r"another name for each agent, got .*random'"):
            arena.Plan(pair)
        with pytest.raises(AgentError, match="another name"):
            arena.play_pair(*pair, 4)
    assert arena.Plan(("m=greedy", "m=greedy")).names == ["m"]


def test_what_is_missing_on_this_machine_is_named(monkeypatch):
    monkeypatch.setitem(registry.AGENTS, "far", registry.Entry("no_such_package", "Agent"))
    with pytest.raises(AgentError, match="no_such_package"):
        load_agent("far")


def test_heavy_libraries_are_imported_only_by_the_agents_that_need_them():
    code = (
        "import sys; from agents import load_agent; load_agent('random'), load_agent('greedy');"
        "heavy = 'torch', 'scipy', 'stable_baselines3', 'rich', 'joblib', 'numba', 'tyro';"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_plays_tournaments_comes_from_the_package_itself():
    assert agents.play_pair is arena.play_pair
    assert (agents.Tournament, agents.Plan) == (arena.Tournament, arena.Plan)
    assert agents.Agent is Agent
    assert all(hasattr(agents, name) for name in agents.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Plans'"):
        _ = agents.Plans


def test_every_name_is_listed():
    assert {"random", "greedy", "file:PATH", "champion"} < set(names())
    assert names()[-1] == "MODULE:CLASS"
    for text in ("gredy", "", "your_bots:Cautious"):
        with pytest.raises(AgentError) as caught:
            load_agent(text)
        assert f"expected an agent of {', '.join(names())};" in str(caught.value)
