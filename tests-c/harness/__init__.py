"""The parts of tests-c/run.py: reading case headers, building, checking needs, executing."""
