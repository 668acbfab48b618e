"""Words to phonemes: lexicon, endings, homographs, and letter-to-sound for words that no lexicon has."""
