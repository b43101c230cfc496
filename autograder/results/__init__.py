"""What comes of it: feedback, report, tables for people and platforms."""
