"""Papers for half an hour in a room, drawn from what students have worked on."""
