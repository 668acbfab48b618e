"""Spellings and sounds: lexicon, regular endings and letter-to-sound, which recognition and synthesis share.

Neither may import the other, and how a word sounds is no business of one of them alone.
"""
