"""Validation, durable files and error messages that several packages share."""
