"""Live calls: who works on which, put down by one worker and taken up by another without losing a word."""
