"""What comes in: downloads of platforms, rosters, archives."""
