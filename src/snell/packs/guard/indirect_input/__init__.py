"""Input of programs other than their arguments: files, variables, plans; the guard works without this folder."""
