"""Scripts that measure, and write the tables of docs/results: a folder a paper or subject."""
