"""The judge: the process that decides about points; student code never runs here."""
