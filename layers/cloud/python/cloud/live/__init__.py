"""A live stream that any process can go on with: its audio format, its state between two pieces, and what it tells."""
