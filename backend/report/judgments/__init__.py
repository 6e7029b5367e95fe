"""Reports by judgment: `NAME.py` defines that of the judgment NAME, as `REPORT` (`judgment_report.py`)."""
