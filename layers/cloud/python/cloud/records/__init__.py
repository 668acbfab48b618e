"""The records door: audio that producers put into a Kinesis data stream, a partition key for each live stream."""
