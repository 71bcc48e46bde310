"""The OpenRefine Reconciliation API, 0.2 and 1.0-draft, over any terminology."""
