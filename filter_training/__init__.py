"""Trains the filter and grader adapters: attacks, datasets, LoRA trainer, recipes."""
