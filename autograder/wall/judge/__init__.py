"""The judge's side of the wall: student code never runs here."""
