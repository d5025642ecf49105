"""What a hook author imports: role decorators, typed subjects, permission rules."""
