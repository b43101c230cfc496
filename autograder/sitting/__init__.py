"""Paper quizzes for half an hour in a room, about what students have worked on."""
