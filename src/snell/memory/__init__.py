"""What is worth remembering, and how it is found again. Pure: no file, clock or network."""
