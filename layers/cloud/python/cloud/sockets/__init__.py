"""The WebSocket door: many live streams on one connection, each message handled by whichever process gets it."""
