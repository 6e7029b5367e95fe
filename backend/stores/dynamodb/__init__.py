"""Studies, sessions and responses in one DynamoDB table."""
