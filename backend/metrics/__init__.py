"""Automatic metrics of pictures, computed from their pixels or features; no answers of people."""
