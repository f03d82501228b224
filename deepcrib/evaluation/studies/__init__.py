"""One-off questions of papers: experts' rules, people's choices, the first dealer."""
