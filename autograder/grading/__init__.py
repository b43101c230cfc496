"""From submitted notebooks to verdicts, the gradebook and autograded notebooks."""
