"""Tables and files of exact statistics."""
