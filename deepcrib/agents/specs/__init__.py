"""What names an agent: the table of names, what files may say, and `make_agent`."""
