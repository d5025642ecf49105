"""What programs are told in other ways than by their words: files, variables, plans; the guard works without it."""
