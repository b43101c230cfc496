"""Tools for those who write checks: they try them on wrong and right answers."""
