"""The weights."""
import json, os
import numpy as np
from agents.heuristic.reading import Reading
WEIGHTS = {k: np.array(v) for k, v in json.load(open(os.environ.get("HZW", "/tmp/hz/w.json"))).items()} if os.path.exists(os.environ.get("HZW", "/tmp/hz/w.json")) else {}
READING=Reading(passed=0.18,passed_pawn=0.05,passed_king=0.8,left_to_me=4.0,lead=50.0,lead_other=8.0,attacked=4.0,repeated=2.0,no_answer=.2,king_attack=50.,
kept=((.25,1.5,1,1.8,1.6,.9,.9,3.),(.35,2.3,1.5,1.5,1.6,1.1,1.2,2),(.9,1.6,1.3,1.3,1.3,1.1,1.2,1.4),(1.2,1.2,1.2,1.2,1.1,1.2,1.2,1)))
