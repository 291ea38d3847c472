"""The HTTP API: a thin layer over the pipeline and the ledger."""
