"""The AWS edge: everything that talks to S3, SQS, DynamoDB and EventBridge, so that `speech` need not."""
