"""The engine: fold a mechanism into facts, turn facts into routes, answer questions with claims."""
