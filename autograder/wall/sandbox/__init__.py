"""The students' side of the wall: their code runs here."""
