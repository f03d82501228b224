"""The report of runs: what lies in run folders, as a page of tables and figures."""
