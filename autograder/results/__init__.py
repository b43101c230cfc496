"""Results of grading: feedback pages, reports, and tables for people and platforms."""
