"""The whole system on one machine: the embedded AWS, the same template, a demonstration."""
