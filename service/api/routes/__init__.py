"""The endpoints, one module per purpose."""
