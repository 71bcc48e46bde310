"""Ranking: rows become ranked concepts."""
