"""Model engines: how a prompt becomes text, probabilities, or a copy of its answer."""
