"""What the service tells of itself: numbers, log lines and traces, and no text of an answer."""
