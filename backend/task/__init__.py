"""The task as a service to evaluators: admission, sessions, responses, withdrawal."""
