"""Holds the environments: ``aec`` (PettingZoo), ``vector`` (all seats), seat environments.

Seat environments are gymnasium's, one game or many.

True means legal, and our own interfaces take and return masks as bool [N, 69]. Elsewhere:

| mask | type | why |
|---|---|---|
| PettingZoo's ``observation["action_mask"]`` | int8 [69] | its samplers and wrappers read that |
| gymnasium's ``info["action_mask"]`` | int8 [N, 69] | ``Discrete.sample(mask=...)`` takes int8 |
| the mask in a Dict observation | int8 [N, 69] | RLlib and TorchRL read it from a ``Box`` |
| after the end of a gymnasium episode | all ones | frameworks crash on a mask of zeros |
| a PettingZoo seat that is not asked | all zeros | it has nothing to do |
"""
