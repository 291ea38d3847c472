"""Measures pipelines by the paper's protocol."""
