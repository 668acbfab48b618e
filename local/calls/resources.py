"""What workers of calls need in an emulator where the template is not deployed: the template's own tables, and more."""

from __future__ import annotations

from typing import Any

from local import aws, emulator, template

TABLE, WATCHERS, BUCKET, QUEUE, STREAM = "calls", "watchers", "checkpoints", "calls", "transcripts"
SCHEMA = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")


def create(endpoint: str) -> None:
    """Make the two tables, empty, and the bucket, the queue and the stream where they are not there yet."""
    tables = template.resources(template.read(), "AWS::DynamoDB::Table")
    dynamodb = aws.client("dynamodb", endpoint, emulator.REGION)
    for name, properties in ((TABLE, tables["CallTable"]), (WATCHERS, tables["WatcherTable"])):
        schema: dict[str, Any] = {key: properties[key] for key in SCHEMA if key in properties}
        dynamodb.create_table(TableName=name, **schema)
    aws.client("s3", endpoint, emulator.REGION).create_bucket(Bucket=BUCKET)
    aws.client("sqs", endpoint, emulator.REGION).create_queue(QueueName=QUEUE)
    kinesis = aws.client("kinesis", endpoint, emulator.REGION)
    if STREAM not in kinesis.list_streams()["StreamNames"]:
        kinesis.create_stream(StreamName=STREAM, ShardCount=1)


def delete(endpoint: str) -> None:
    """Forget what tables know."""
    dynamodb = aws.client("dynamodb", endpoint, emulator.REGION)
    for name in (TABLE, WATCHERS):
        dynamodb.delete_table(TableName=name)
