"""Evaluation: duplicate matches, tournaments, speed."""
