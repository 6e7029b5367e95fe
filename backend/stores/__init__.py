"""Where studies, sessions and responses are kept: SQLite on one machine, DynamoDB on AWS."""
