"""Developer tools for authors of checks: try them on wrong and on right answers."""
