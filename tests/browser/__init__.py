"""A package, so that what its tests share lives as long as they do and no longer."""
