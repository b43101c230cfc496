"""Release of assignments: the students' notebooks, and the plan to grade them by."""
