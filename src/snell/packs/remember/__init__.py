"""Automatic memory: texts worth remembering are captured, and memories that match a prompt are recalled."""
