"""What is loaded and what is saved: bundles of weights, ONNX graphs, snapshots of streams."""
