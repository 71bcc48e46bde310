"""Review of links by people: mentions, proposals, and decisions that are never lost.

`Store` keeps reviews in SQLite or PostgreSQL (extra ``service``). The review page of ``canonym
serve`` works on it.
"""
