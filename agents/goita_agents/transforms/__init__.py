"""Changes what a seat sees: hidden slices of the observation, or a function of the user's."""

from goita_agents.transforms.transform import UNCHANGED, ObservationFunction, Transform, read_texts

__all__ = ["UNCHANGED", "ObservationFunction", "Transform", "read_texts"]
