"""What was run: mechanisms as frozen values. One file a mechanism, with its own theorems."""
