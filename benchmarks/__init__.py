"""Speed, load and memory, each beside a peer that is measured in the same run."""
