"""Decisions, the ledger, the audit chain and retention: rows and files of what happened."""
