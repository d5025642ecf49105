"""
The page of `snell ui`: what Snell decided, live, on loopback, in a process of its own.

`command.py` starts it, `gate.py` decides who may look, `store.py` reads the database without ever writing to it, and
`pages/` has one module for each page with its template of the same name. Nothing else imports this folder: its row in
`cli/templates/commands.json` names it.
"""
