"""What tests of the parts on AWS share."""

import boto3
import pytest


@pytest.fixture
def bucket(cloud):
    """An S3 client, on moto, with a bucket `pictures`."""
    client = boto3.client("s3")
    client.create_bucket(Bucket="pictures", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return client
