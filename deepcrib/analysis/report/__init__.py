"""The report of runs: what lies in run folders, beside the 2019 paper's values."""
