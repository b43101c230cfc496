"""One notebook engine: reading, matching, running; of students, page and grading."""
