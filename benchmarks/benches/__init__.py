"""The benches. Each module has a `TITLE`, an `ABOUT` and `run`; see `benchmarks.bench.Bench`."""
