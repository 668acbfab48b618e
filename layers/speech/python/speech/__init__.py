"""Streaming speech recognition and synthesis by state-space models, in pure Python over numpy and ONNX."""
