"""What goes out: the students' notebooks, and the plan that grading follows."""
