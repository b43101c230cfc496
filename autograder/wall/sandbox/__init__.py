"""The sandbox, in which student code runs: isolation, limits, request handling."""
