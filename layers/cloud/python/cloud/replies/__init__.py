"""Spoken replies to live calls: who answers, how an answer becomes sound, and what happens when the caller speaks."""
