"""Support for torch: its tensors and modules in checks, messages, and on the wire."""
