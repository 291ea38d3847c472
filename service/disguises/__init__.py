"""Ways to hide words from a reader that is a model, each with a rule that shows them plainly."""
