"""The table and the bucket that workers of calls need, in an emulator."""

from __future__ import annotations

from cloud.calls.leases import INDEX

from local import aws, emulator

TABLE, BUCKET = "calls", "checkpoints"


def create(endpoint: str) -> None:
    """Make both, empty."""
    aws.client("dynamodb", endpoint, emulator.REGION).create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "status", "AttributeType": "S"},
            {"AttributeName": "lease_until_s", "AttributeType": "N"},
        ],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": INDEX,
                "KeySchema": [
                    {"AttributeName": "status", "KeyType": "HASH"},
                    {"AttributeName": "lease_until_s", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    aws.client("s3", endpoint, emulator.REGION).create_bucket(Bucket=BUCKET)
