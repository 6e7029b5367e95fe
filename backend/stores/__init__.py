"""Storage of studies, sessions and responses: SQLite on one machine, DynamoDB on AWS."""
