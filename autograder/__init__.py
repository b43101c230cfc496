"""The course's autograder: checks, the wall, grading and the command line."""
