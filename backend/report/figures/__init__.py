"""Figures of a report: functions that take plain data and a width (inches) and return a drawn figure."""
