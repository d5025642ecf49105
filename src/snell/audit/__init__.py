"""`snell audit verify`: compare the records with their seals, with the audit chain and with its anchors."""
